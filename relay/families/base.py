"""The words between the relay and a dialect: what a request asks for, and how its answer and its stream are read.

A family knows one dialect and does no I/O: it reads bodies that are parsed already, says what goes upstream, and finds
the usage in what comes back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from adapters.base import UpstreamError
from common.errors import ApiError
from common.token_usage import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """A companion path, taken apart. `model` and `verb` are those that a Google path names; else empty.

    `query` is the request's query string, `content_type` its header: whoever asks `of_path` puts both in.
    """

    path: str
    model: str = ""
    verb: str = ""
    query: str = ""
    content_type: str = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """What a request asks for. `input_bound` and `input_estimate` are tokens: at most, and likely.

    `output_limit` is the request's own limit in tokens for one answer, None where it has none; `choices` says how many
    answers it wants, `images` how many pictures. `is_array`: the client reads a stream as one JSON array.
    `is_free`: it counts tokens, and buys nothing. `shows_usage`: whether the client asked for the usage that a stream
    ends with; where it did not, what the relay asked for is dropped.
    """

    model: str
    is_stream: bool
    input_bound: int
    input_estimate: int
    output_limit: int | None = None
    choices: int = 1
    images: int = 0
    is_array: bool = False
    is_free: bool = False
    shows_usage: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a call goes: the group's platform, the channel's base URL, its credential, and the model's name there."""

    platform: str
    base_url: str
    credentials: Mapping[str, str]
    upstream_model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedField:
    """A field that passes only where the group's `extra_fields` name it: by `name`; it stands at `path`."""

    name: str
    path: str
    reason: str


class StreamReader(Protocol):
    """Reads one answer's stream, frame by frame. A frame is the bytes of one event with the blank line that ends it."""

    usage: TokenUsage | None
    """The latest that was seen. Cumulative: it counts all until then."""
    can_end: bool
    """Whether the end of the stream, now, is a proper end."""
    is_over: bool
    """The frame taken last was the last one: nothing that costs comes after it."""
    output_bytes: int
    """Of text, arguments and thoughts so far; for an estimate where no usage comes."""
    error: UpstreamError | None
    """What the frame taken last says went wrong, classified as a paid call's refusal is; None while all is well."""

    def take(self, frame: bytes) -> bytes:
        """What the client gets of it: the same bytes as a rule, none where the client did not ask for it.

        None of an error either: the relay says it in its own words, and nothing comes after it. Of a frame without an
        event (`relay.sse.data` is None) a blank line is left: every SDK takes that for a sign of life.
        """


class Family(Protocol):
    """One dialect. Instances are stateless."""

    name: ClassVar[str]
    """`chat`, `responses`, `messages`, `generate_content` or `images`."""

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        """The body's fields by name: JSON, or of a form its texts, where the dialect takes forms (their files are only
        in `raw`). Raises UnsupportedMediaType, then InvalidRequest."""

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        """Raises InvalidRequest naming the field, or what of the query the dialect does not have."""

    def refused(self, document: Mapping[str, Any]) -> list[RefusedField]:
        """What would cost beyond the price table, or names objects of the operator's account."""

    def body(self, document: Mapping[str, Any], raw: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        """What goes upstream: the same bytes, but for the model's name and `stream_options.include_usage`."""

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        """The whole address."""

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        """With the credential, and what of the client's headers (lower-case names) is the dialect's own. Raises
        UpstreamError (AUTH) without a usable credential."""

    def usage(self, document: Any) -> TokenUsage | None:
        """That of a whole answer; None where it tells none."""

    def output_bytes(self, document: Any) -> int:
        """Bytes of text in a whole answer, for an estimate where it tells no usage."""

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        """A whole answer as the client gets it: the same bytes, with the name that the client sent."""

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader: ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """What an answer that is no success stands for (adapters/kit/error_kinds.py, as of a paid call). Its `param` is
        the field at fault, where the provider names one."""

    def error_frame(self, error: ApiError) -> bytes:
        """The frame that ends a stream which was cut."""
