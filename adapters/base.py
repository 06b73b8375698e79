"""The words between us and a provider's protocol: value objects and the interface every adapter fulfils.

Knows no Django. `check` and `build` are pure; `submit`, `poll`, `cancel` and `open_output` do the I/O.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Literal, Protocol, Self

from adapters.kit.upstream_fields import FieldKind as FieldKind
from adapters.kit.upstream_fields import UpstreamField as UpstreamField
from common.params import tables
from common.params.row import InputType, Role
from common.urls import UrlPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """Bytes in our own storage: a Data URL of the request, or one of our assets used as input."""

    key: str
    content_type: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRef:
    """One element of `params.images`, or the mask: a public URL, or bytes that we hold."""

    url: str | None = None
    stored: StoredFile | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaInput:
    """One element of `params.inputs`; `url` is public HTTP(S). `stored` are the same bytes where they are ours, for an
    adapter that sends files itself."""

    type: InputType
    role: Role
    url: str
    id: str | None = None
    stored: StoredFile | None = None


@tables.declared
@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRequest:
    """A validated request of any modality; what a modality does not have stays empty. The fields are declared in
    `common/params/`. `mask` says with its transparent places where the first of `images` may change."""

    modality: str
    prompt: str = ""
    n: int = 1
    image_size: str | None = None
    aspect_ratio: str | None = None
    images: tuple[ImageRef, ...] = ()
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    duration: int | None = None
    resolution: str | None = None
    generate_audio: bool | None = None
    inputs: tuple[MediaInput, ...] = ()
    provider_options: Mapping[str, Any] = field(default_factory=dict)
    output_format: str | None = None
    mask: ImageRef | None = None

    @property
    def pictures(self) -> tuple[ImageRef, ...]:
        """All that may be bytes of ours: the reference images, then the mask."""
        return self.images if self.mask is None else (*self.images, self.mask)

    @property
    def stored_files(self) -> tuple[StoredFile, ...]:
        """The bytes of ours among its pictures, then among its inputs."""
        found = [*(picture.stored for picture in self.pictures), *(media.stored for media in self.inputs)]
        return tuple(file for file in found if file is not None)

    def with_pictures(self, changed: Callable[[ImageRef], ImageRef]) -> Self:
        """The same request with each of `pictures` changed, in order."""
        pictures = tuple(changed(picture) for picture in self.pictures)
        count = len(self.images)
        return replace(self, images=pictures[:count], mask=pictures[count] if self.mask else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request would go, without credentials: frozen on the paid call.

    `extra_fields` are the paths of upstream fields that the operator lets callers set, `fixed` what the operator sets
    in their place, written as a caller would write `extra_body` or `provider_options`.
    """

    adapter: str
    base_url: str
    upstream_model: str
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    extra_fields: Sequence[str] = field(default_factory=list)
    fixed: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsupported:
    """Why a target cannot run a request: the field's path (`params.n`) and a reason in words. `is_illegal` of a value
    that the upstream field can have at no model, and which decides about count or size."""

    field: str
    reason: str
    is_illegal: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Billed:
    """What the final upstream request buys.

    Images: `count` and `tier`; `tier` is None where no tier of the size table covers the final size.
    Video: `count` 1 and `tier` the resolution. `count_field` is where the request gives the count, for a refusal.
    """

    count: int
    tier: str | None
    count_field: str = field(default="params.extra_body", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """One file of a multipart request."""

    field: str
    image: ImageRef


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """The complete request to the provider but for credentials; `path` is relative to the base URL."""

    path: str
    body: Mapping[str, Any]
    billed: Billed
    encoding: Literal["json", "multipart"] = "json"
    files: tuple[FilePart, ...] = ()
    calls: int = 1  # how often it is sent: a protocol without a count fans out; `billed` is of all of them together

    def digest(self) -> str:
        """SHA-256 (hex) of what is bought, for the record of the paid call."""
        files = [
            [part.field, part.image.url or (part.image.stored and part.image.stored.sha256)] for part in self.files
        ]
        text = json.dumps([self.path, self.body, files], sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """How to reach one channel now. Timeouts in seconds; `open_stored` opens one of our own files for reading;
    `reference` is our own name for a paid call, unique for ever; `payer` names the account whose inputs are fetched.
    Temporary files go to `scratch_dir`, those of outputs to `output_dir` as long as it takes them; None is the system's
    folder."""

    base_url: str
    credentials: Mapping[str, str] = field(repr=False)
    total_timeout: float
    open_stored: Callable[[StoredFile], BinaryIO]
    options: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout: float = 10.0
    allow_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    deny_networks: tuple[IPv4Network | IPv6Network, ...] = ()
    scratch_dir: Path | None = None
    output_dir: Path | None = None
    reference: str = ""
    payer: str = ""

    @property
    def url_policy(self) -> UrlPolicy:
        """What the outbound door lets pass."""
        return UrlPolicy(allow_networks=self.allow_networks, deny_networks=self.deny_networks)


MAX_OUTPUT_BYTES: Mapping[str, int] = {
    "image": 64 * 1024**2,
    "video": 2 * 1024**3,
    "audio": 64 * 1024**2,
    "model": 512 * 1024**2,
}
"""The kinds of produced files, and how large one may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """One produced file: a URL to fetch, or a temporary file that the caller deletes after use."""

    index: int
    kind: str
    url: str | None = None
    path: Path | None = None


class FileChunks(Iterator[bytes]):
    """The chunks of an output that lies in a file. Who can make use of the file itself takes that."""

    def __init__(self, file: BinaryIO, path: Path, chunk_bytes: int) -> None:
        self.file, self.path, self._chunk_bytes = file, path, chunk_bytes

    def __next__(self) -> bytes:
        if chunk := self.file.read(self._chunk_bytes):
            return chunk
        raise StopIteration


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """The provider took an asynchronous job. `handle` is small JSON, enough to poll it from any process; its `id` is
    the provider's name for the job."""

    handle: Mapping[str, Any]
    poll_after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """Not ended yet; `progress` is 0 to 100 where the provider tells."""

    poll_after: float
    progress: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What an answer says of what was made and used, as far as it does: compared with the bill, never billed.

    `resolution` is a word such as 720p, `size` pixels as WIDTHxHEIGHT, `used_seconds` what the provider counts for one
    film, `cost_micros` what it charges, in micro-USD. `adapters/kit/reports.py` makes these from raw values.
    """

    count: int | None = None
    resolution: str | None = None
    size: str | None = None
    has_sound: bool | None = None
    used_seconds: float | None = None
    cost_micros: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Ended well. `duration` is the produced length in seconds as the provider reports it, if it does."""

    outputs: tuple[Output, ...]
    duration: float | None = None
    reported: Reported = field(default=Reported(), compare=False)


class ErrorKind(StrEnum):
    """What went wrong, in the terms that decide what happens next."""

    INVALID_REQUEST = "invalid_request"  # the provider refuses this request, on any of its channels
    CONTENT_POLICY = "content_policy"
    ASSET_UNREACHABLE = "asset_unreachable"  # an input could not be fetched
    MODEL_UNAVAILABLE = "model_unavailable"  # not found, not opened for the account, retired
    AUTH = "auth"  # the credential is unknown, expired, or may not do this
    QUOTA_EXHAUSTED = "quota_exhausted"  # the provider's account has no credit or quota left
    FORBIDDEN = "forbidden"  # a refusal that does not say whose fault it is, as a bare 403 is
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    TRANSIENT = "transient"  # surely not accepted: refused connection, DNS, TLS
    AMBIGUOUS = "ambiguous"  # may have been accepted: timeout, reset, 408, 409, 5xx, garbage after a paid submit
    EMPTY_RESULT = "empty_result"  # ended without a usable file, or the result is gone
    PROVIDER_FAILED = "provider_failed"  # the accepted job ended as failed at the provider


class Fault(StrEnum):
    """Whose fault a refusal is. What follows from it: `catalog/health/outcomes.py`."""

    REQUEST = "request"
    MODEL = "model"
    CREDENTIAL = "credential"
    ACCOUNT = "account"


FAULTS: Mapping[ErrorKind, Fault] = {
    ErrorKind.INVALID_REQUEST: Fault.REQUEST,
    ErrorKind.CONTENT_POLICY: Fault.REQUEST,
    ErrorKind.ASSET_UNREACHABLE: Fault.REQUEST,
    ErrorKind.MODEL_UNAVAILABLE: Fault.MODEL,
    ErrorKind.AUTH: Fault.CREDENTIAL,
    ErrorKind.QUOTA_EXHAUSTED: Fault.ACCOUNT,
}
"""Whose fault each kind of refusal is; every other kind is nobody's: a busy provider, a lost answer, a bare 403."""

REFUSES_CREDENTIAL = (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.FORBIDDEN)
OF_CREDENTIAL = (ErrorKind.RATE_LIMITED, *REFUSES_CREDENTIAL)
"""The channel may serve the same request with another credential; after the first three only with another."""

ENDS_JOB = frozenset(
    {
        ErrorKind.INVALID_REQUEST,
        ErrorKind.CONTENT_POLICY,
        ErrorKind.ASSET_UNREACHABLE,
        ErrorKind.MODEL_UNAVAILABLE,
        ErrorKind.EMPTY_RESULT,
        ErrorKind.PROVIDER_FAILED,
    }
)
"""What `poll` says with these ends the job; every other kind is a poll fault and says nothing about it."""


def text(value: Any) -> str:
    """A provider's text or number in a form that every database column takes."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return ""
    return str(value).replace("\0", "").encode("utf-8", "replace").decode()


class UpstreamError(Exception):
    """A provider's refusal or fault. `message` is raw provider text, for the operator only; no credentials in it.
    `is_documented`: words or codes of the protocol say that it is of this kind, and not the HTTP status alone."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        code: str = "",
        http_status: int | None = None,
        retry_after: float | None = None,
        request_id: str = "",
        is_documented: bool = True,
    ) -> None:
        message, code, request_id = text(message), text(code), text(request_id)
        super().__init__(f"{kind}: {code or http_status or ''} {message}"[:500])
        self.kind = kind
        self.message = message[:2000]
        self.code = code[:200]
        self.http_status = http_status
        self.retry_after = retry_after
        self.request_id = request_id
        self.is_documented = is_documented

    def as_kind(self, kind: ErrorKind) -> "UpstreamError":
        """The same words under another kind."""
        return UpstreamError(
            kind,
            self.message,
            code=self.code,
            http_status=self.http_status,
            retry_after=self.retry_after,
            request_id=self.request_id,
            is_documented=self.is_documented,
        )

    @property
    def maybe_accepted(self) -> bool:
        """Whether the provider may have taken the job all the same."""
        return self.kind is ErrorKind.AMBIGUOUS


class NothingSent(Exception):
    """A fault of our own disk or storage, or no room here, met before anything of a paid call was sent: it may be made
    again later."""


ValueKind = Literal[
    "whole", "number", "switch", "choice", "text", "names", "sizes", "durations", "counts", "object", "either"
]  # fmt: skip
"""What an operator enters: a whole number; a number; true or false; one of `choices`; a text; a list of names; pixels
by tier and ratio; whole seconds as a list or a span; counts by some of `choices`; an object, or whatever JSON has; one
of `choices` or an object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorField:
    """One option of a channel or one capability of a channel model, as forms draw it. `validate` has the last word on
    its value."""

    name: str
    kind: ValueKind
    choices: tuple[str, ...] = ()
    help: str = ""


class Adapter(Protocol):
    """One provider protocol. Instances are stateless and shared by threads.

    Optional, since installed adapters may be older: `expresses`, the names of the fields of a `TaskRequest` that
    `build` sends or `check` judges, by modality. `adapters.expression` refuses every other field that is set. And
    `fields(target)`, the list of the protocol's upstream fields (adapters/kit/upstream_fields.py): what callers give of
    others passes only where the channel model names it. And `prompt_command(prompt, target)`: what of a prompt the
    model would obey as a command, if anything. And `pixel_sizes(target)`, what tiers and ratios mean there in pixels,
    {tier: {ratio: "WIDTHxHEIGHT"}}. And `option_fields()` and `capability_fields()`, each a tuple of OperatorField:
    without them the admin takes options and capabilities as names with values.
    """

    protocol: ClassVar[str]
    modalities: ClassVar[frozenset[str]]
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]]
    poll_batch: ClassVar[int]

    def validate(self, target: Target) -> list[str]:
        """Complaints about a channel's options or a channel model's capabilities, in words; for admin and file."""

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        """Why this target cannot run the request; empty if it can. Pure."""

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        """The upstream request, options merged last. Pure. Only for requests that `check` passes."""

    def submit_seconds(self, target: Target) -> float | None:
        """The longest that the paid call may take; None: as long as the task has."""

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        """The paid call, on a fresh connection, never repeated here. Raises UpstreamError, and NothingSent where it is
        sure; after any other exception nobody knows what was bought."""

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        """The state of each handle, in order. An error of a kind in ENDS_JOB ends the job; every other kind, raised or
        returned, is a poll fault and says nothing about it."""

    def find(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | None:
        """The job that `connection.reference` named, where `submit_safety` is "lookup" and the provider knows it; None
        while it shows none. Raises UpstreamError."""

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        """The handle of a job that an operator knows by the provider's id. Raises ValueError where there is none."""

    def probe(self, connection: Connection) -> None:
        """Ask for something that needs the credential and buys nothing. Raises UpstreamError for a channel that cannot
        be used now."""

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Whether the provider confirmed the cancellation. Never raises for a refusal."""

    def open_output(self, output: Output, connection: Connection) -> AbstractContextManager[Iterator[bytes]]:
        """The bytes of one output in chunks; capped by its kind. Credentials go to the channel's own origin only,
        everything else through the outbound door. Raises UpstreamError."""
