"""What the readers of all streams share: signs of life, errors, the model's name, and an end that is one.

Nothing has begun until a frame of the dialect's own shape has come; what comes before, and what later has another
shape, is an error. Data that is no object, such as `ping`, is a sign of life.

A frame is parsed only where its bytes can hold what is looked for. A quote inside of a JSON string is escaped, so
`"usage":{` never stands in what a model says.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.token_usage import TokenUsage
from relay.families import counts, tool_counts
from relay.families.base import AskedCall, Delivered
from relay.families.fields import mappings
from relay.families.refusals import ErrorWords, of_frame
from relay.wire import long_strings, splicing, sse

ERROR = re.compile(rb'"error"\s*:\s*[{"]|"type"\s*:\s*"error"')
NAMED_ERROR = re.compile(rb"^event: ?error\s*$", re.MULTILINE)
# How gateways say in a first event that they have failed, without any `error`.
FAILED = re.compile(rb'"success"\s*:\s*false|"(?:code|status|status_code|statusCode)"\s*:\s*"?[45]\d\d"?\s*[,}]')
# The types of events by which upstreams keep a connection open.
LIFE = frozenset({"ping", "keepalive"})
MEMBERS = ("candidates", "choices", "promptFeedback", "response", "type", "usage", "usageMetadata")
NOTHING = Delivered()
UNFINISHED = ("", "null", "FINISH_REASON_UNSPECIFIED")
MOST_CHOICES = 128
BLANK_LINE = b"\n"
DATA = re.compile(rb"(?:\A|(?<=[\r\n]))data:")
# From here on a frame is a picture, mostly, of which nothing is to be learned.
LARGE_BYTES = 64 * 1024


def texts(*names: str) -> re.Pattern[bytes]:
    """Finds the texts of these fields, in JSON that may be as long as it likes."""
    return re.compile(rb'"(?:' + "|".join(names).encode() + rb')"\s*:\s*(' + splicing.STRING + rb")", re.DOTALL)


def decoded_bytes(literal: bytes) -> int:
    """How many bytes a text of JSON is in UTF-8."""
    if b"\\" not in literal:
        return len(literal) - 2
    return len(str(error_kinds.parsed(literal)).encode(errors="replace"))


class FrameReader:
    """A stream as far as the dialects agree; each of them says what its frames tell (`_watch`)."""

    __slots__ = (
        "_asked",
        "_document",
        "_ended",
        "_is_begun",
        "_name_path",
        "_texts",
        "_told",
        "_tools",
        "_upstream_model",
        "_words",
        "can_end",
        "delivered",
        "error",
        "has_begun",
        "has_failed",
        "is_over",
        "is_whole",
        "usage",
    )
    own: ClassVar[re.Pattern[bytes]]
    """Finds what only a frame of the dialect has."""
    has_types: ClassVar[bool] = True
    """Whether each event has a type: one that is not known passes, once the stream has begun."""

    def __init__(
        self,
        asked: AskedCall,
        upstream_model: str,
        *,
        words: ErrorWords,
        texts: re.Pattern[bytes] | None,
        name_path: tuple[str, ...],
    ) -> None:
        self._asked, self._upstream_model = asked, upstream_model
        self._words, self._texts, self._name_path = words, texts, name_path
        self._document: dict[str, Any] | None = None
        self._ended: set[int] = set()
        self._told: dict[str, Any] = {}
        self._tools: Mapping[str, int] = {}
        self._is_begun = False
        self.usage: TokenUsage | None = None
        self.error: UpstreamError | None = None
        self.can_end = False
        self.has_begun = self.has_failed = self.is_whole = False
        self.is_over = False
        self.delivered = NOTHING

    def take(self, frame: bytes) -> bytes:
        """What the client gets of a frame (base.StreamReader)."""
        if self.is_over:
            return b""
        self._document = None
        seen = frame if len(frame) < LARGE_BYTES else long_strings.without(frame)
        if not seen.startswith(b"data:") and sse.data(seen) is None:
            return BLANK_LINE
        if not self.has_begun and self._is_whole(self._parsed(seen)):
            self.is_whole = self.is_over = True
            return b""
        return self._own(frame, seen) if self._is_own(seen) else self._other(frame, seen)

    def _is_own(self, seen: bytes) -> bool:
        return self.own.search(seen) is not None

    def _own(self, frame: bytes, seen: bytes) -> bytes:
        """What the client gets of a frame of the dialect; `seen` is it without its pictures."""
        self._deliver(self._texts_in(seen))
        is_shown = self._watch(seen)
        error = self._error(seen)
        self._is_begun = True
        if error is not None:
            return self._refused(error)
        self.has_begun = self.has_begun or self._carries(self._parsed(seen))
        return self._named(self._framed(frame, seen)) if is_shown else b""

    def _other(self, frame: bytes, seen: bytes) -> bytes:
        """What the client gets of a frame in any other shape."""
        said = (sse.data(seen) or b"").strip()
        document = error_kinds.parsed(said)
        if isinstance(document, dict):
            return self._other_object(frame, document, self._error(seen))
        if NAMED_ERROR.search(seen):
            return self._refused({})
        if not said.startswith(b"{"):
            return BLANK_LINE
        self._fail("a frame of the stream is no JSON")
        return b""

    def _other_object(self, frame: bytes, document: Mapping[str, Any], error: Mapping[str, Any] | None) -> bytes:
        kind = document.get("type")
        if error is not None or not (isinstance(kind, str) and kind):
            return self._refused(error or document)
        if kind in LIFE:
            return BLANK_LINE
        return frame if self.has_types and self._is_begun else self._refused(document)

    def _refused(self, error: Mapping[str, Any]) -> bytes:
        self.error, self.is_over, self.can_end = of_frame(self._words, error), True, False
        return b""

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        """Whether it is a whole answer, in the place of a stream's first event."""
        return False

    def _carries(self, document: Mapping[str, Any]) -> bool:
        """Whether a frame has something that may cost."""
        return True

    def _framed(self, frame: bytes, seen: bytes) -> bytes:
        """A frame as the vendor's SDK reads it: most are so already."""
        return frame

    def _deliver(self, output_bytes: int, pictures: int = 0) -> None:
        """So much more has come."""
        if output_bytes or pictures:
            known = self.delivered
            self.delivered = Delivered(
                output_bytes=known.output_bytes + output_bytes, pictures=known.pictures + pictures
            )

    def _watch(self, frame: bytes) -> bool:
        """Takes note of what a frame tells; False for one that the client has not asked for."""
        raise NotImplementedError

    def _texts_in(self, frame: bytes) -> int:
        """The bytes of what the model has written in it."""
        return sum(decoded_bytes(text[1]) for text in self._texts.finditer(frame)) if self._texts else 0

    def _learn(self, told: Mapping[str, Any], read: Callable[[Mapping[str, Any]], TokenUsage | None]) -> bool:
        """Takes in what a frame tells of the usage; False for one that tells no tokens."""
        merged = counts.completed(self._told, told)
        usage = read(merged)
        if usage is None or not told:
            return False
        self._told, self.usage = merged, tool_counts.put_in(counts.greater(self.usage, usage), self._tools)
        return True

    def _count_tools(self, tools: Mapping[str, int]) -> None:
        """So often the tools of the provider have run until now."""
        self._tools = tools
        self.usage = tool_counts.put_in(self.usage, tools)

    def _end_choices(self, choices: Any, name: str) -> None:
        """Takes note of those that give a reason (`name`) why they have ended. An absent index is the place."""
        for place, choice in enumerate(mappings(choices)):
            index, reason = choice.get("index", place), choice.get(name)
            is_index = isinstance(index, int) and 0 <= index < MOST_CHOICES
            if is_index and isinstance(reason, str) and reason not in UNFINISHED:
                self._ended.add(index)
        self.can_end = self.can_end or len(self._ended) >= self._asked.choices

    def _fail(self, words: str) -> None:
        """The stream is none: nobody knows whether it was bought."""
        self.error, self.is_over, self.can_end = UpstreamError(ErrorKind.AMBIGUOUS, words), True, False

    def _error(self, frame: bytes) -> Mapping[str, Any] | None:
        if b"error" in frame:
            if NAMED_ERROR.search(frame):
                return self._parsed(frame)
            if ERROR.search(frame):
                return self._error_in(self._parsed(frame))
        if not self._is_begun and FAILED.search(frame):
            document = self._parsed(frame)
            return document if document and not any(document.get(name) for name in MEMBERS) else None
        return None

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What of a frame's document is an error, as an answer of the vendor would say it; None where nothing is."""
        return document if document.get("error") or document.get("type") == "error" else None

    def _parsed(self, frame: bytes) -> dict[str, Any]:
        """The document of the frame that is taken, parsed once; empty where it has none."""
        if self._document is None:
            document = error_kinds.parsed(sse.data(frame) or b"")
            self._document = document if isinstance(document, dict) else {}
        return self._document

    def _named(self, frame: bytes) -> bytes:
        """The frame with the model's name as the client knows it."""
        asked, last = self._asked.model, self._name_path[-1]
        if self._upstream_model == asked or f'"{last}"'.encode() not in frame:
            return frame
        begin = DATA.search(frame)
        if begin is None:
            return frame
        head, tail = frame[: begin.start()], frame[begin.end() :]
        said = sse.data(frame) or b""
        if b"\n" in said:  # over several lines, which between two values are one as well
            said, tail = said.replace(b"\n", b""), b"\n\n"
        else:
            tail = tail[tail.index(said) + len(said) :]
        return head + b"data: " + splicing.renamed(said, self._name_path, asked) + tail
