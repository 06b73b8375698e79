"""Turns an upstream's reply into an answer: a whole one, or a stream whose first event has arrived.

A whole reply to a stream request is converted into a stream (`relay/calls/whole_streams.py`), and the reverse
(`relay/calls/streamed_answers.py`). Anything else than a successful answer of the dialect is an error.
"""

import asyncio

from adapters.base import ErrorKind, UpstreamError
from relay.calls import begun_streams, streamed_answers, times, whole_answers, whole_streams
from relay.calls.begun_streams import BegunStream
from relay.calls.wanted_answers import WantedAnswer
from relay.calls.whole_answers import WholeAnswer
from relay.wire import beginnings, sse
from relay.wire.upstream import UpstreamReply

# Bounds for the frames held back before the first one with content.
MOST_HELD, MOST_HELD_BYTES = 100, 64 * 1024
Answered = BegunStream | WholeAnswer


async def read_answer(reply: UpstreamReply, wanted: WantedAnswer) -> Answered:
    """Reads the answer, which the caller closes. Raises UpstreamError, and closes the reply, if it is not a success."""
    try:
        if not 200 <= reply.status < 300:
            raise await _refusal(reply, wanted)
        return await (_stream(reply, wanted) if wanted.asked.is_stream else _whole(reply, wanted))
    except BaseException:
        reply.close()
        raise


async def _whole(reply: UpstreamReply, wanted: WantedAnswer) -> WholeAnswer:
    if not wanted.asked.is_free and beginnings.are_events(await beginnings.read_beginning(reply), _media_type(reply)):
        return await streamed_answers.read_answer(reply, wanted)
    return await whole_answers.read_answer(reply, wanted)


async def _stream(reply: UpstreamReply, wanted: WantedAnswer) -> BegunStream:
    begin = await beginnings.read_beginning(reply)
    if beginnings.are_json(begin):
        return await whole_streams.make_stream(await whole_answers.read_answer(reply, wanted), reply, wanted)
    if not beginnings.are_events(begin, _media_type(reply)):
        raise await _refusal(reply, wanted)
    return await _begun(reply, wanted)


def _media_type(reply: UpstreamReply) -> str:
    return reply.headers.get("Content-Type", "")


async def _refusal(reply: UpstreamReply, wanted: WantedAnswer) -> UpstreamError:
    """Reads the error of an unsuccessful answer, without waiting long for its body."""
    body = b""
    try:
        async with asyncio.timeout(times.ERROR_BODY_SECONDS):
            while len(body) < whole_answers.ERROR_BYTES and (piece := await reply.read()):
                body += piece
    except (UpstreamError, TimeoutError):
        pass
    return wanted.family.refusal(reply.status, reply.headers, body)


async def _begun(reply: UpstreamReply, wanted: WantedAnswer) -> BegunStream:
    """Reads the stream up to the first frame with content; the frames before it are held back for a moment. Raises
    UpstreamError if an error or the end comes first."""
    reader = wanted.family.stream(wanted.asked, wanted.upstream_model)
    begun = BegunStream(reply=reply, reader=reader)
    while not (reader.has_begun or reader.is_over or _is_full(begun.shown)):
        if not (begun.waiting or await _goes_on(begun)):
            return begun
        frame = begun.waiting.popleft()
        shown = reader.take(frame)
        if reader.error is not None:
            raise reader.error
        if reader.is_whole:
            answer = await whole_answers.read_frame(sse.data(frame) or b"", reply, wanted)
            return await whole_streams.make_stream(answer, reply, wanted)
        if shown.strip():  # keep-alives may come in any number
            begun.shown.append(shown)
    return begun


def _is_full(held: list[bytes]) -> bool:
    return len(held) >= MOST_HELD or sum(map(len, held)) >= MOST_HELD_BYTES


async def _goes_on(begun: BegunStream) -> bool:
    """Waits for more frames; False once those held back have waited long enough. Raises UpstreamError at the end of the
    stream."""
    try:
        async with asyncio.timeout(times.BEAT_SECONDS if begun.shown else None):
            begun.waiting.extend(await begun_streams.next_frames(begun))
    except TimeoutError:
        return False
    if not begun.waiting:
        raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream ended before its first event", code="network")
    return True
