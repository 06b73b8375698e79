"""State of the sandbox: paid jobs, used-up steering words, the files it serves, planned outages."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from sandbox.films import Film
from sandbox.pictures import Picture
from sandbox.steering import GARBAGE, Script, Turns
from sandbox.wire import Cut, Response


class Audit:
    """Counts what was bought. A job counts as paid once accepted, even if the answer was lost."""

    def __init__(self) -> None:
        self._by_kind: Counter[str] = Counter()
        self._by_reference: Counter[str] = Counter()
        self._by_prompt: Counter[str] = Counter()
        self._calls: Counter[str] = Counter()
        self._left: Counter[str] = Counter()
        self._canceled = 0

    def buy(self, kind: str, prompt: str, reference: str | None) -> None:
        """Counts one paid job. `reference` is the caller's own name for the call (`X-Client-Request-Id`), if sent."""
        self._by_kind[kind] += 1
        self._by_prompt[prompt] += 1
        if reference:
            self._by_reference[reference] += 1

    def cancel(self) -> None:
        """Counts a job cancelled before it ran. It stays in the other counts."""
        self._canceled += 1

    def leave(self, prompt: str) -> None:
        """Counts a caller that left before the end of an answer."""
        self._left[prompt] += 1

    def call(self, kind: str) -> None:
        """Counts one call: submit, poll, cancel, download."""
        self._calls[kind] += 1

    def snapshot(self) -> dict[str, Any]:
        """Returns the answer of `GET /audit`."""
        return {
            "jobs": self._by_kind.total(),
            "canceled": self._canceled,
            "by_kind": dict(self._by_kind),
            "by_reference": dict(self._by_reference),
            "by_prompt": dict(self._by_prompt),
            "left": self._left.total(),
            "left_by_prompt": dict(self._left),
            "calls": dict(self._calls),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file behind a result URL, made when it is fetched."""

    media: Film | Picture
    script: Script


@dataclass(slots=True, kw_only=True)
class Outage:
    """Answers or cuts the next `times` requests below `path` with this status; `method` None means any."""

    path: str
    method: str | None = None
    status: int = 503
    times: int = 1
    retry_after: int | None = None
    cut: Cut | None = None

    def response(self) -> Response:
        """Returns a gateway's answer, not the protocol's."""
        headers = {} if self.retry_after is None else {"retry-after": str(self.retry_after)}
        return Response(status=self.status, body=GARBAGE, content_type="text/html", headers=headers, cut=self.cut)


@dataclass(slots=True)
class State:
    """State shared by the protocols; `POST /reset` replaces it."""

    audit: Audit = field(default_factory=Audit)
    turns: Turns = field(default_factory=Turns)
    files: dict[str, File] = field(default_factory=dict)
    outages: list[Outage] = field(default_factory=list)
    released: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by `POST /release`, after which nothing is held."""

    async def work(self, script: Script) -> None:
        """Takes the time that the prompt asks for, and waits while it is held."""
        await asyncio.sleep(script.seconds("slow", "late"))
        if script.has("held"):
            await self.released.wait()
