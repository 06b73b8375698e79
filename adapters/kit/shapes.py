"""What most protocols have in common, for adapters to inherit: one shape answers at once, the other with a job.

An adapter declares `protocol`, `modalities`, a one-line `summary`, what an operator may set (`capabilities` and
`options`) and what its provider's codes mean (`error_codes`, or `codes` where a table cannot say it); it adds `check`,
`build` and `submit`, and one of jobs `state`, or `poll` where one request can ask for many.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar, Literal, TypeGuard

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Pending,
    Target,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import outputs, rules
from adapters.kit.error_kinds import Verdict
from adapters.kit.http import Authorize, Call, bearer, calling
from adapters.kit.rules import Rules

JOB_SUBMIT_SECONDS = 120.0
LONGEST_SECONDS = 86_400
ANSWERS_PROBE = (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY, ErrorKind.EMPTY_RESULT)


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
    `probe_path` is of a free GET that needs the credential, of an unknown job for one."""

    protocol: ClassVar[str]
    modalities: ClassVar[frozenset[str]]
    summary: ClassVar[str] = ""
    capabilities: ClassVar[Rules] = {}
    options: ClassVar[Rules] = {}
    error_codes: ClassVar[Mapping[str, Verdict]] = {}
    credential_sets: ClassVar[Sequence[Sequence[str]]] = (("api_key",),)
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]] = "none"
    poll_batch: ClassVar[int] = 1
    probe_path: ClassVar[str] = "/models"

    def codes(self, code: str) -> Verdict | None:
        """The meaning of a code in an error body; None where the status decides."""
        return self.error_codes.get(code)

    def validate(self, target: Target) -> list[str]:
        return rules.complaints(target, capabilities=self.capabilities, options=self.options)

    def authorize(self, connection: Connection) -> dict[str, str]:
        """The headers that authenticate. Raises UpstreamError (AUTH)."""
        return bearer(connection)

    def call(self, method: str, path: str, **more: Any) -> Call:
        """A request in this protocol's terms."""
        authorize: Authorize = self.authorize
        return Call(method=method, path=path, codes=self.codes, authorize=authorize, **more)

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
            raise ValueError("a provider's id has 1 to 200 printable ASCII characters")
        return {"id": upstream_id}

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        return False

    def poll_after(self, connection: Connection) -> float:
        """Seconds between two polls: the operator's `poll_seconds`, else the protocol's."""
        return float(connection.options.get("poll_seconds", self.poll_seconds))


def is_id(value: object) -> TypeGuard[str]:
    """Whether a text can name a job."""
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isascii() and value.isprintable()


def id_of(value: object) -> str:
    """A provider's name for a job, some of which are numbers; empty for what is none."""
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value
    return name if is_id(name) else ""


def seconds_of(value: object) -> float | None:
    """A length that a provider reports; None for what is no sane number of seconds."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value <= LONGEST_SECONDS else None  # type: ignore[arg-type,operator]
