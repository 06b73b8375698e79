"""What most protocols have in common, for adapters to inherit: one shape answers at once, the other with a job.

An adapter declares `protocol`, `modalities`, the fields that it `expresses`, a one-line `summary`, what an operator may
set (`capabilities` and `options`) and what its provider's codes mean (`error_codes`, or `codes` where a table cannot
say it). It adds the pure `problems` and `build`, then `submit`, and one of jobs `state`, or `poll` where one request
can ask for many.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Literal

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    OperatorField,
    Output,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import declared, error_shapes, outputs, rules
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.http import HttpCall, bearer, calling
from adapters.kit.jobs import LONGEST_ID, is_id
from adapters.kit.rules import Rules
from adapters.kit.settings import SettingsObject
from adapters.kit.upstream_fields import UpstreamField

JOB_SUBMIT_SECONDS = 120.0
ANSWERS_PROBE = (
    ErrorKind.INVALID_REQUEST,
    ErrorKind.CONTENT_POLICY,
    ErrorKind.MODEL_UNAVAILABLE,
    ErrorKind.EMPTY_RESULT,
)


@contextmanager
def probing() -> Iterator[None]:
    """A probe: what is refused only as a request has reached the provider, and its credential was taken. Raises every
    other UpstreamError."""
    try:
        yield
    except UpstreamError as error:
        if error.kind not in ANSWERS_PROBE:
            raise


class Provider:
    """What both shapes share. `credential_sets` are the names that a credential must have, in one of these ways;
    `probe_path` is of a free GET that needs the credential, of an unknown job for one; `variants` are the options with
    which it speaks another dialect, and `settings` says where its settings are, for documents and tests."""

    protocol: ClassVar[str]
    modalities: ClassVar[frozenset[str]]
    expresses: ClassVar[Mapping[str, frozenset[str]]] = {}
    summary: ClassVar[str] = ""
    capabilities: ClassVar[Rules] = {}
    options: ClassVar[Rules] = {}
    settings: ClassVar[SettingsObject | None] = None
    variants: ClassVar[Sequence[Mapping[str, Any]]] = ({},)
    error_codes: ClassVar[Mapping[str, ErrorKind]] = {}
    credential_sets: ClassVar[Sequence[Sequence[str]]] = (("api_key",),)
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]] = "none"
    poll_batch: ClassVar[int] = 1
    probe_path: ClassVar[str] = "/models"

    @staticmethod
    def problems(request: TaskRequest, target: Target) -> Iterable[Unsupported]:
        """Why the protocol, or the model behind it, cannot express the request."""
        raise NotImplementedError

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(self.problems(request, target))

    def codes(self, code: str) -> ErrorKind | None:
        """The meaning of a code in an error body; None where the status decides."""
        return self.error_codes.get(code)

    def spoken(self, document: Any, status: int) -> SpokenError:
        """What an answer says of an error, in the terms that `codes` knows."""
        return spoken_error(document, status)

    def shape(self, document: Any) -> bool:
        """Whether an error body is in the protocol's own shape, as no proxy's is: it makes a 503 a refusal."""
        return error_shapes.error_object(document)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        """Every upstream field of the protocol. What is not listed is the operator's."""
        return ()

    def option_fields(self) -> tuple[OperatorField, ...]:
        """What an operator may set of a channel."""
        return declared.fields(self.options)

    def capability_fields(self) -> tuple[OperatorField, ...]:
        """What an operator may say of a model behind it."""
        return declared.fields(self.capabilities)

    def validate(self, target: Target) -> list[str]:
        return rules.complaints(target, capabilities=self.capabilities, options=self.options)

    def authorize(self, connection: Connection) -> dict[str, str]:
        """The headers that authenticate. Raises UpstreamError (AUTH)."""
        return bearer(connection)

    def call(self, method: str, path: str, **more: Any) -> HttpCall:
        """A request in this protocol's terms."""
        usual = {"codes": self.codes, "spoken": self.spoken, "shape": self.shape, "authorize": self.authorize}
        return HttpCall(method=method, path=path, **{**usual, **more})

    def paid(self, upstream: UpstreamRequest, body: Any = None, **more: Any) -> HttpCall:
        """The paid call; `body` has a `content_type`, and without one the upstream body goes out as JSON."""
        content_type = "application/json" if body is None else body.content_type
        headers = {"Content-Type": content_type, **more.pop("headers", {})}
        sent = json.dumps(upstream.body).encode() if body is None else body
        return self.call("POST", upstream.path, paid=True, headers=headers, body=sent, **more)

    def find(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | None:
        return None

    def probe(self, connection: Connection) -> None:
        with probing(), calling(self.call("GET", self.probe_path), connection):
            pass

    def open_output(self, output: Output, connection: Connection) -> AbstractContextManager[Iterator[bytes]]:
        return outputs.open_output(output, connection, self.authorize)


class Synchronous(Provider):
    """One paid call that answers with the result."""

    def submit_seconds(self, target: Target) -> float | None:
        return None

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        raise NotImplementedError("a synchronous protocol has nothing to poll")

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        raise ValueError("this protocol answers at once: there is no job to attach")

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        return False


class Asynchronous(Provider):
    """A paid call that answers with a job, which is polled. A handle is `{"id": …}`."""

    poll_seconds: ClassVar[float] = 5.0

    def submit_seconds(self, target: Target) -> float | None:
        return JOB_SUBMIT_SECONDS

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        """One request a job; a fault of one says nothing about the others."""
        states: list[Pending | Done | UpstreamError] = []
        for handle in handles:
            try:
                states.append(self.state(handle, connection))
            except UpstreamError as error:
                states.append(error)
        return states

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        """Of one job. What is raised is a poll fault unless its kind ends jobs."""
        raise NotImplementedError

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        if not is_id(upstream_id):
            raise ValueError(f"a provider's id has 1 to {LONGEST_ID:,} printable ASCII characters")
        return {"id": upstream_id}

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        return False

    def poll_after(self, connection: Connection) -> float:
        """Seconds between two polls: the operator's `poll_seconds`, else the protocol's."""
        return float(connection.options.get("poll_seconds", self.poll_seconds))
