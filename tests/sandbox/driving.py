"""An adapter that speaks to the sandbox over a socket, for what only the sandbox's own tests show.

What the steering words do to every protocol is shown by `tests/worker/test_words.py`.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import av
import pytest
import requests
from PIL import Image

from adapters.base import Connection, Done, ErrorKind, Pending, Target, UpstreamError
from adapters.registry import ADAPTERS
from sandbox.server import Sandbox
from tests.adapters.making import connection_to, image_request, video_request
from tools.children import PATIENCE, wait_until


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (16, 16)).save(file, "PNG")
    return file.getvalue()


@dataclass(frozen=True)
class Caller:
    """One adapter with one key; `credentials` where a key is not all, `more` for the connection."""

    sandbox: Sandbox
    scratch: Path
    adapter: str
    path: str
    modality: str
    model: str
    key: str = "any"
    credentials: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def speaks(self) -> Any:
        return ADAPTERS[self.adapter]

    @property
    def connection(self) -> Connection:
        return connection_to(
            self.sandbox.url + self.path,
            credentials=self.credentials or {"api_key": self.key},
            options=self.options,
            files={"one": picture()},
            scratch_dir=self.scratch,
            **self.more,
        )

    @property
    def target(self) -> Target:
        return Target(
            adapter=self.adapter,
            base_url=self.sandbox.url + self.path,
            upstream_model=self.model,
            options=self.options,
            capabilities=self.capabilities,
        )

    def built(self, **fields: Any) -> Any:
        request = (image_request if self.modality == "image" else video_request)(**fields)
        assert self.speaks.check(request, self.target) == []
        return self.speaks.build(request, self.target)

    def submit(self, **fields: Any) -> Any:
        return self.speaks.submit(self.built(**fields), self.connection)

    def handle(self, **fields: Any) -> Any:
        return self.submit(**fields).handle

    def ended(self, *handles: Any) -> Any:
        """The states in which these jobs end, asked for together; the state itself of one."""

        def states() -> list[Any] | None:
            found = list(self.speaks.poll(list(handles), self.connection))
            return None if any(isinstance(state, Pending) for state in found) else found

        found = wait_until(states, what="the end of the jobs") or []
        return found if len(handles) > 1 else found[0]

    def result(self, **fields: Any) -> Any:
        """What becomes of a request, at once or as a job."""
        answer = self.submit(**fields)
        return answer if isinstance(answer, Done) else self.ended(answer.handle)

    def files(self, done: Any) -> list[bytes]:
        """The bytes of every output."""
        assert isinstance(done, Done), done
        found = []
        for output in done.outputs:
            with self.speaks.open_output(output, self.connection) as chunks:
                found.append(b"".join(chunks))
        return found

    def pictures(self, **fields: Any) -> list[tuple[str | None, tuple[int, int]]]:
        """Format and size of the pictures of a request."""
        images = [Image.open(io.BytesIO(content)) for content in self.files(self.result(**fields))]
        return [(image.format, image.size) for image in images]

    def film(self, done: Any) -> "FilmFacts":
        with av.open(io.BytesIO(self.files(done)[0])) as container:
            shown = container.streams.video[0]
            seconds = round((container.duration or 0) / 1_000_000, 1)
            return FilmFacts(seconds, shown.width < shown.height, bool(container.streams.audio))

    def probe(self) -> None:
        self.speaks.probe(self.connection)

    def post(self, path: str, body: Any, **headers: str) -> requests.Response:
        """A body of our own making, past the adapter."""
        named = {"Authorization": "Bearer any"} | {name.replace("_", "-"): value for name, value in headers.items()}
        return requests.post(self.sandbox.url + self.path + path, json=body, headers=named, timeout=PATIENCE)

    def bought(self) -> int:
        return int(self.sandbox.audit()["jobs"])


@dataclass(frozen=True)
class FilmFacts:
    seconds: float
    is_tall: bool
    has_sound: bool


def fault_of(call: Callable[[], object]) -> UpstreamError:
    with pytest.raises(UpstreamError) as caught:
        call()
    return caught.value


def check_keys(caller: Caller, *, probe_knows: Sequence[str] = ("wrong",), **fields: Any) -> None:
    """A submission tells a wrong key and one without money apart, and buys nothing; a probe knows some of them."""
    kinds = {"wrong": ErrorKind.AUTH, "broke": ErrorKind.QUOTA_EXHAUSTED}
    for key, kind in kinds.items():
        one = replace(caller, key=key)
        assert fault_of(lambda one=one: one.submit(**fields)).kind is kind
        if key in probe_knows:
            assert fault_of(one.probe).kind is kind
    assert caller.bought() == 0
    caller.probe()
