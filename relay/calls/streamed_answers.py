"""Joins the events of a stream that came instead of a whole answer."""

import asyncio

from adapters.base import ErrorKind, UpstreamError
from relay.calls import begun_streams, failover, times, whole_answers
from relay.calls.begun_streams import BegunStream
from relay.calls.wanted_answers import WantedAnswer
from relay.calls.whole_answers import WholeAnswer
from relay.wire import sse
from relay.wire.upstream import UpstreamReply


async def read_answer(reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    """Returns the answer once the stream has ended properly; its cost is what the stream reported. Raises
    UpstreamError, after part of the answer one that no other channel follows."""
    reader = wanted.family.stream(wanted.asked, wanted.upstream_model)
    try:
        answer = await _joined(BegunStream(reply=reply, reader=reader), wanted)
    except UpstreamError as error:
        raise (failover.after_partial_answer(error) if reader.has_begun else error) from error
    reply.close()
    return answer


async def _joined(stream: BegunStream, wanted: WantedAnswer) -> WholeAnswer:
    reader = stream.reader
    with whole_answers.collecting(wanted.payer) as answer:
        while not reader.is_over and (frames := await _more(stream)):
            for frame in frames:
                shown = reader.take(frame)
                if reader.is_whole:
                    answer.close()
                    return await whole_answers.read_frame(sse.data(frame) or b"", stream.reply, wanted)
                if event := sse.data(shown):
                    await answer.take(event.replace(b"\n", b" ") + b"\n")
                if reader.is_over:
                    break
        if reader.error is not None:
            raise reader.error
        if not reader.can_end:
            raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream ended too early", code="network")
        answer.usage, answer.delivered, answer.has_failed = reader.usage, reader.delivered, reader.has_failed
        await answer.join(stream.reply, wanted)
    return answer


async def _more(stream: BegunStream) -> list[bytes]:
    """Returns the next frames; none at the end, or after a silence once nothing essential is missing."""
    try:
        async with asyncio.timeout(times.BEAT_SECONDS if stream.reader.can_end else None):
            return await begun_streams.next_frames(stream)
    except TimeoutError:
        return []
