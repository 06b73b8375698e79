"""Common base of the stream readers: where a stream begins, keep-alives, errors, and its end.

A stream begins with the first frame of the dialect's own shape; frames of other shapes before or after it are errors.
Data that is not an object, such as `ping`, is a keep-alive.
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar

from adapters.base import ErrorKind, UpstreamError
from adapters.kit import error_kinds
from common.token_usage import TokenUsage
from relay.families.base import AskedCall, Delivered
from relay.families.refusals import ErrorWords, read_error_frame
from relay.families.streams import frame_errors, output
from relay.families.streams.choices import Choices
from relay.families.streams.model_names import AskedName
from relay.families.streams.output import StreamOutput
from relay.families.streams.seen_frames import SeenFrame
from relay.families.streams.usage import StreamUsage

# Types of keep-alive events.
LIFE = frozenset({"ping", "keepalive"})
BLANK_LINE = b"\n"


class FrameReader:
    """Common part of reading a stream (base.StreamReader); each dialect interprets its frames in `_watch`."""

    __slots__ = (
        "_asked", "_choices", "_is_begun", "_name", "_output", "_usage", "_words",
        "can_end", "error", "has_begun", "has_failed", "is_over", "is_whole",
    )  # fmt: skip
    own: ClassVar[re.Pattern[bytes]]
    """Matches every frame of the dialect, and no other."""
    texts: ClassVar[re.Pattern[bytes] | None] = None
    """Finds the texts that the model has written in a frame (output.texts)."""
    has_types: ClassVar[bool] = True
    """Tells whether each event has a type; unknown types pass once the stream has begun."""

    def __init__(self, asked: AskedCall, upstream_model: str, *, words: ErrorWords, name_path: tuple[str, ...]) -> None:
        self._asked, self._words = asked, words
        self._name = AskedName(asked.model, upstream_model, name_path)
        self._choices, self._output, self._usage = Choices(asked.choices), StreamOutput(), StreamUsage()
        self._is_begun = False
        self.error: UpstreamError | None = None
        self.can_end = self.has_begun = self.has_failed = self.is_over = self.is_whole = False

    @property
    def usage(self) -> TokenUsage | None:
        return self._usage.total

    @property
    def delivered(self) -> Delivered:
        return self._output.delivered

    def take(self, frame: bytes) -> bytes:
        if self.is_over:
            return b""
        taken = SeenFrame(frame)
        if not taken.has_event:
            return BLANK_LINE
        if not self.has_begun and self._is_whole(taken.document):
            self.is_whole = self.is_over = True
            return b""
        return self._own(taken) if self._is_own(taken.seen) else self._other(taken)

    def _is_own(self, seen: bytes) -> bool:
        return self.own.search(seen) is not None

    def _own(self, frame: SeenFrame) -> bytes:
        """Returns the client's version of a frame of the dialect."""
        self._output.add(self._written_in(frame))
        is_shown = self._watch(frame)
        error = self._error(frame)
        self._is_begun = True
        if error is not None:
            return self._refused(error)
        self.has_begun = self.has_begun or self._carries(frame.document)
        return self._name.put_in(self._framed(frame)) if is_shown else b""

    def _other(self, frame: SeenFrame) -> bytes:
        """Returns the client's version of a frame of any other shape."""
        said = frame.said.strip()
        document = error_kinds.parsed(said)
        if isinstance(document, dict):
            return self._other_object(frame, document)
        if frame_errors.is_named(frame) or frame_errors.is_text(said):
            return self._refused({"message": said.decode(errors="replace")})
        if not said.startswith(b"{"):
            return BLANK_LINE
        self._fail("a frame of the stream is not JSON")
        return b""

    def _other_object(self, frame: SeenFrame, document: Mapping[str, Any]) -> bytes:
        error, kind = self._error(frame), document.get("type")
        if error is None and (kind in LIFE if isinstance(kind, str) else self._is_idle(document)):
            return BLANK_LINE
        if error is not None or not (isinstance(kind, str) and kind):
            return self._refused(error or document)
        return frame.raw if self.has_types and self._is_begun else self._refused(document)

    def _error(self, frame: SeenFrame) -> Mapping[str, Any] | None:
        return frame_errors.find_frame_error(frame, self._error_in, is_first=not self._is_begun)

    def _refused(self, error: Mapping[str, Any]) -> bytes:
        self.error, self.is_over, self.can_end = read_error_frame(self._words, error), True, False
        return b""

    def _fail(self, words: str) -> None:
        """Ends the reading of an invalid stream, which may have been charged."""
        self.error, self.is_over, self.can_end = UpstreamError(ErrorKind.AMBIGUOUS, words), True, False

    def _watch(self, frame: SeenFrame) -> bool:
        """Reads a frame; False if the client has not asked for it."""
        raise NotImplementedError

    def _written_in(self, frame: SeenFrame) -> int:
        """Counts the bytes that the model has written in the frame."""
        return output.bytes_of(self.texts, frame.seen) if self.texts else 0

    def _is_whole(self, document: Mapping[str, Any]) -> bool:
        """Tells whether the document is a whole answer instead of a stream's first event."""
        return False

    def _is_idle(self, document: Mapping[str, Any]) -> bool:
        """Tells whether an object without a type is a keep-alive."""
        return not document

    def _carries(self, document: Mapping[str, Any]) -> bool:
        """Tells whether a frame contains something that may cost."""
        return True

    def _framed(self, frame: SeenFrame) -> bytes:
        """Returns a frame in the form that the vendor's SDK reads, as most already are."""
        return frame.raw

    def _error_in(self, document: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Returns a document's error in the shape of the vendor's error answers; None without one."""
        return frame_errors.find_error(document)
