"""Turns a whole answer into the stream that was asked for: its frames, and a reader that knows the cost."""

from collections import deque

from adapters.base import UpstreamError
from common.concurrency import threads
from common.token_usage import TokenUsage
from relay.calls.begun_streams import BegunStream
from relay.calls.demands import INLINE_BYTES
from relay.calls.wanted_answers import WantedAnswer
from relay.calls.whole_answers import WholeAnswer
from relay.families.base import Delivered
from relay.wire.upstream import UpstreamReply


class WholeReader:
    """Passes on the frames of an answer already read (families.base.StreamReader)."""

    def __init__(self, answer: WholeAnswer, frames: int) -> None:
        self._left = frames
        self.usage: TokenUsage | None = answer.usage
        self.delivered: Delivered = answer.delivered
        self.has_begun, self.is_whole = True, False
        self.has_failed = answer.has_failed
        self.error: UpstreamError | None = None
        self.can_end = self.is_over = not frames

    def take(self, frame: bytes) -> bytes:
        """Returns the frame unchanged."""
        self._left -= 1
        self.can_end = self.is_over = self._left <= 0
        return frame


async def make_stream(answer: WholeAnswer, reply: UpstreamReply, wanted: WantedAnswer) -> BegunStream:
    """Makes the stream of an answer that has been examined. Raises UpstreamError after closing the answer."""
    try:
        frames = await _frames(answer, wanted)
    except BaseException:
        answer.close()
        raise
    reader = WholeReader(answer, len(frames))
    return BegunStream(reply=reply, reader=reader, waiting=deque(frames), answer=answer)


async def _frames(answer: WholeAnswer, wanted: WantedAnswer) -> list[bytes]:
    if answer.size > INLINE_BYTES:
        return await threads.compute(answer.frames, wanted)
    return answer.frames(wanted)
