"""The words between the relay and a dialect: what a request asks for, and how its answer and its stream are read.

A family knows one dialect and does no I/O: it reads bodies that are parsed already, says what goes upstream, and finds
the usage in what comes back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from adapters.base import UpstreamError
from common.errors import ApiError
from common.strict_json import Trail
from common.token_usage import TokenUsage

TOOL_CALLS = 10
"""The most calls of a tool that the provider runs, where the request does not say. Held, and sent upstream where the
dialect has a field for it. Anthropic's loop ends after as many turns by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallPath:
    """A companion path, taken apart. `model` and `verb` are those that a Google path names; else empty.

    `query` is the request's query string, `content_type` its header, `betas` the values of its `anthropic-beta` headers
    in order: whoever asks `find_family` puts them in.
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

    The group's `extra_fields` open it by `name`. Others open some: the price of the model where it has this `amount`,
    the group's `tool_prices` where they price this `tool` (its type), its `extra_betas` where they list this
    `beta`. With `only_by_piece` it is refused only where pictures are priced by the piece. `details` go into the error.
    `value` is what the field says, where `extra_fields` may open what stands in it one by one.
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
    """What a request asks for.

    `input_bound` and `input_estimate` are tokens of what counts by its bytes: at most, and likely. Beside them there
    are `pictures_in` pictures, inline or by address, and perhaps files that are neither text nor pictures, of which
    `file_path` is the path of the first. The provider may read all of it so many `passes`, and write each time.
    `amounts` are those of the price that the request uses beyond input and output (`audio_input`, `audio_output`,
    `cache_write_1h`). `tools` are the priced tools that the provider may run, by the vendor's name, each with the
    request's own limit of calls for one answer or None; `tool_calls` is the limit of all of them together, None where
    there is none. `tool_types` are the types that the request has of them. `sent_tool_limits` are the fields in which
    the relay sends its own limit (`TOOL_CALLS`), because the request has none there.

    `predicted_bound` are tokens of an answer beside its limit: of a text that the request foretells, of pictures that a
    stream shows before they are done. `thoughts_bound` are those of thoughts that some servers write beside it;
    together they are no more than the model can make. `output_limit` is the request's own limit in tokens for one
    answer, None where it has none; `sent_limit` is the one that goes upstream because neither request nor price has
    one, or because the request has two. `choices` says how many answers the request wants, `images` how many pictures,
    `size` and `quality` of which kind (empty: as the provider likes). `is_array`: the client reads a stream as one JSON
    array. `is_free`: it counts tokens, and buys nothing. `shows_usage`: whether the client asked for the usage that a
    stream ends with; where it did not, what the relay asked for is dropped. `refused` are the fields that pass only
    where the operator has opened them.
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
    """What an answer has brought, for an estimate: bytes of text, arguments and thoughts, pictures, and sound in
    characters of base64."""

    output_bytes: int = 0
    pictures: int = 0
    sound_bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a call goes: the group's platform, the channel's base URL, its credential, and the model's name there."""

    platform: str
    base_url: str
    credentials: Mapping[str, str]
    upstream_model: str


class StreamReader(Protocol):
    """Reads one answer's stream, frame by frame. A frame is the bytes of one event with the blank line that ends it."""

    @property
    def usage(self) -> TokenUsage | None:
        """The latest that was seen. Cumulative: it counts all until then."""

    can_end: bool
    """Whether the end of the stream, now, is a proper end."""
    is_over: bool
    """The frame taken last was the last one: nothing that costs comes after it."""

    @property
    def delivered(self) -> Delivered:
        """What has come so far; for an estimate where no usage comes."""

    has_begun: bool
    """Something has come that may cost: until then the call may go to another upstream."""
    has_failed: bool
    """The answer says itself that it has failed: it is charged by its usage, or not at all."""
    is_whole: bool
    """The frame taken last is a whole answer, in the place of a stream."""
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

    def body(
        self,
        document: Mapping[str, Any],
        raw: bytes,
        asked: AskedCall,
        upstream_model: str,
        *,
        takes_stream_options: bool = True,
    ) -> bytes:
        """What goes upstream: the same bytes, but for the model's name, the limits that the relay sends
        (`AskedCall.sent_limit`, `sent_tool_limits`), and `stream_options.include_usage`. Without `takes_stream_options`
        the upstream knows no `stream_options`, and gets none."""

    def url(self, endpoint: Endpoint, path: CallPath, asked: AskedCall) -> str:
        """The whole address."""

    def headers(self, endpoint: Endpoint, client: Mapping[str, str]) -> dict[str, str]:
        """With the credential, and what of the client's headers (lower-case names) is the dialect's own. Raises
        UpstreamError (AUTH) without a usable credential."""

    def usage(self, document: Any, asked: AskedCall) -> TokenUsage | None:
        """That of a whole answer; None where it tells none."""

    def delivered(self, document: Any, asked: AskedCall) -> Delivered:
        """What a whole answer has brought, for an estimate where it tells no usage."""

    def is_answer(self, document: Any, asked: AskedCall) -> bool:
        """Whether a whole body with a status of success is an answer of the dialect: it has something in the dialect's
        own member, or usage."""

    def has_failed(self, document: Any) -> bool:
        """Whether an answer says that nothing was made. Without usage it costs nothing."""

    def frames(self, document: Any, asked: AskedCall, path: CallPath) -> list[bytes]:
        """A whole answer as the frames of a stream, for a client that asked for one."""

    def joined(self, events: Iterable[Mapping[str, Any]]) -> dict[str, Any] | None:
        """The whole answer that the events of a stream tell together, for a client that asked for one; None where they
        tell none."""

    def shown(self, answer: bytes, asked: AskedCall, upstream_model: str) -> bytes:
        """A whole answer as the client gets it: the same bytes, with the name that the client sent."""

    def stream(self, asked: AskedCall, upstream_model: str) -> StreamReader: ...

    def refusal(self, status: int, headers: Mapping[str, str], body: bytes) -> UpstreamError:
        """What an answer that is no success stands for (adapters/kit/error_kinds.py, as of a paid call). Its `param` is
        the field at fault, where the provider names one."""

    def error_frame(self, error: ApiError) -> bytes:
        """The frame that ends a stream which was cut."""
