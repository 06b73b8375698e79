"""A stream whose first event has arrived, and how the rest of it is read."""

from collections import deque
from dataclasses import dataclass, field

from adapters.base import ErrorKind, UpstreamError
from relay.calls.whole_answers import WholeAnswer
from relay.families.base import StreamReader
from relay.wire.sse import Frames, FrameTooLarge
from relay.wire.upstream import UpstreamReply


@dataclass(slots=True, kw_only=True)
class BegunStream:
    """A stream being read. `shown` goes to the client first; `waiting` are frames not yet read. `answer` is the whole
    answer behind a converted stream: it occupies memory until its frames are sent."""

    reply: UpstreamReply
    reader: StreamReader
    frames: Frames = field(default_factory=Frames)
    shown: list[bytes] = field(default_factory=list)
    waiting: deque[bytes] = field(default_factory=deque)
    answer: WholeAnswer | None = None

    def close(self) -> None:
        self.reply.close()
        if self.answer is not None:
            self.answer.close()


async def next_frames(stream: BegunStream) -> list[bytes]:
    """Returns the next frames; none at the end. Raises UpstreamError if the stream breaks off or a frame never ends."""
    while piece := await _piece(stream):
        try:
            if frames := stream.frames.feed(piece):
                return frames
        except FrameTooLarge as error:
            raise UpstreamError(ErrorKind.AMBIGUOUS, "a frame is too large", code="size") from error
    last = stream.frames.rest()
    return [last] if last else []


async def _piece(stream: BegunStream) -> bytes:
    """Returns the bytes that have arrived; empty at the end, also if the stream breaks off after everything that
    matters."""
    try:
        return await stream.reply.read()
    except UpstreamError:
        if stream.reader.can_end:
            return b""
        raise
