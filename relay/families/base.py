"""Interface between the relay and a dialect: what a request asks for, and how its answer and its stream are read.

A family knows one dialect and does no I/O: it reads parsed bodies, says what goes upstream, and finds the usage in what
comes back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from adapters.base import UpstreamError
from common.errors import ApiError
from common.strict_json import Trail
from common.token_usage import TokenUsage

TOOL_CALLS = 10
"""Limit of tool calls that the provider runs if the request sets none: held, and sent upstream if the dialect has a
field for it. Anthropic stops its loop after as many turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """A companion path, taken apart. `model` and `verb` are those in a Google path, else empty.

    `query` is the request's query string, `content_type` its header, `betas` its `anthropic-beta` values in order; the
    caller of `find_family` sets these.
    """

    path: str
    model: str = ""
    verb: str = ""
    query: str = ""
    content_type: str = "application/json"
    betas: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedField:
    """A field at `path` that passes only where the operator has opened it.

    The group's `extra_fields` open it by `name`. It is also open if the model's price has this `amount`, the group's
    `tool_prices` have this `tool` (its type), or its `extra_betas` list this `beta`. With `only_by_piece` it is refused
    only if pictures are priced by the piece. `details` go into the error. `value` is the field's value if
    `extra_fields` may open its members one by one.
    """

    name: str
    path: str
    reason: str
    amount: str = ""
    tool: str = ""
    beta: str = ""
    only_by_piece: bool = False
    value: Any = None
    details: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """Content of a request that the relay needs.

    `input_bound` and `input_estimate` count the tokens of everything measured in bytes: at most, and likely.
    `pictures_in` pictures are counted separately, inline or by address, as are files that are neither text nor
    pictures; `file_path` is the path of the first. The provider may read the input `passes` times and write it to a
    cache each time. `amounts` are the price amounts used beyond input and output (`audio_input`, `audio_output`,
    `cache_write_1h`). `tools` maps each priced tool that the provider may run, by the vendor's name, to the request's
    own limit of calls for one answer or None; `tool_calls` limits all of them together, if set. `tool_types` are their
    types in the request. `sent_tool_limits` are the fields in which the relay sends its own limit (`TOOL_CALLS`)
    because the request has none there.

    `predicted_bound` counts tokens beyond the answer's limit: a predicted text, or the previews of a picture stream.
    `thoughts_bound` counts thoughts that some servers add to the limit; together they never exceed the model's output.
    `output_limit` is the request's own limit in tokens for one answer, None without one; `sent_limit` goes upstream
    where neither request nor price has a limit, or the request has two. `choices` is the number of answers, `images`
    that of pictures, of `size` and `quality` (empty: the provider's default). `is_array`: the client reads a stream as
    one JSON array. `is_free`: the call only counts tokens. `shows_usage`: the client asked for the usage at a stream's
    end; otherwise the relay asks for it and drops it. `refused` are the fields that pass only where the operator has
    opened them.
    """

    model: str
    is_stream: bool
    input_bound: int
    input_estimate: int
    pictures_in: int = 0
    file_path: str = ""
    passes: int = 1
    amounts: frozenset[str] = frozenset()
    tools: Mapping[str, int | None] = field(default_factory=dict)
    tool_types: frozenset[str] = frozenset()
    tool_calls: int | None = None
    sent_tool_limits: Sequence[Trail] = ()
    predicted_bound: int = 0
    thoughts_bound: int = 0
    output_limit: int | None = None
    sent_limit: int | None = None
    choices: int = 1
    images: int = 0
    size: str = ""
    quality: str = ""
    is_array: bool = False
    is_free: bool = False
    shows_usage: bool = True
    refused: Sequence[RefusedField] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Amounts in an answer, for an estimate: bytes of text, arguments and thoughts, pictures, and sound in base64
    characters."""

    output_bytes: int = 0
    pictures: int = 0
    sound_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Destination of a call: the group's platform, the channel's base URL and credential, and the model's name
    there."""

    platform: str
    base_url: str
    credentials: Mapping[str, str]
    upstream_model: str


class StreamReader(Protocol):
    """Reads the stream of one answer, frame by frame. A frame is the bytes of one event with its closing blank line."""

    @property
    def usage(self) -> TokenUsage | None:
        """Returns the latest usage, which counts everything so far."""

    can_end: bool
    """Tells whether the stream may properly end now."""
    is_over: bool
    """Tells whether the latest frame was the last one that may cost anything."""

    @property
    def delivered(self) -> Delivered:
        """Returns what has arrived so far, for an estimate without usage."""

    has_begun: bool
    """Tells whether anything has arrived that may cost; until then the call may go to another upstream."""
    has_failed: bool
    """Tells whether the answer reports a failure: it is charged by its usage, or not at all."""
    is_whole: bool
    """Tells whether the latest frame is a whole answer instead of a stream."""
    error: UpstreamError | None
    """Error in the latest frame, classified like the refusal of a paid call; None if all is well."""

    def take(self, frame: bytes) -> bytes:
        """Returns the client's version of the frame: usually the same bytes, none if the client did not ask for it.

        An error becomes nothing: the relay reports it in its own words as the last frame. A frame without an event
        (`relay.sse.data` is None) becomes a blank line, which every SDK takes for a keep-alive.
        """


class Family(Protocol):
    """One dialect. Instances are stateless."""

    name: ClassVar[str]
    """`chat`, `responses`, `messages`, `generate_content` or `images`."""

    def document(self, raw: bytes, path: CallPath) -> dict[str, Any]:
        """Parses the body into its fields: JSON, or the texts of a form where the dialect takes forms (files stay in
        `raw`). Raises UnsupportedMediaType, then InvalidRequest."""

    def read(self, document: Mapping[str, Any], raw: bytes, path: CallPath) -> AskedCall:
        """Reads the call. Raises InvalidRequest naming the field or the unknown query parameter."""

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        """Returns the body for upstream: the same bytes, except for the model's name, the relay's limits
        (`AskedCall.sent_limit`, `sent_tool_limits`), and `stream_options.include_usage`. Without
        `takes_stream_options`, `stream_options` are left out."""

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        """Returns the whole address."""

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        """Returns the credential and the dialect's own headers among the client's (lower-case names). Raises
        UpstreamError (AUTH) without a usable credential."""

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        """Returns the usage of a whole answer; None if it reports none."""

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        """Measures a whole answer, for an estimate without usage."""

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        """Tells whether a whole body with a success status is an answer of the dialect: it has the dialect's own
        member, with content, or usage."""

    def has_failed(self, document: Any) -> bool:
        """Tells whether an answer reports that nothing was made; without usage it costs nothing."""

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        """Returns a whole answer as frames of a stream, for a client that asked for a stream."""

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        """Joins the events of a stream into a whole answer, for a client that asked for one; None if they form none."""

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        """Returns a whole answer for the client: the same bytes, with the model's name that the client sent."""

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader: ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """Classifies an unsuccessful answer (adapters/kit/error_kinds.py, for a paid call). Its `param` is the field
        that the provider names, if any."""

    def error_frame(self, error: ApiError) -> bytes:
        """Returns the last frame of a stream that was cut."""
