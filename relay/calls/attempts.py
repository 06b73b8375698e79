"""Sends a relayed call to one channel after the other, until one has answered: with a whole answer, or a stream's
first event.

Until then nothing has been said to the client, so the call may go on to the next channel where surely nothing was
accepted (`relay/calls/failover.py`). One deadline holds for all attempts together.
"""

import asyncio
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import partial

from adapters.base import ErrorKind, UpstreamError
from catalog import relay_channels
from catalog.relay_channels import Candidate, Candidates
from common.concurrency import threads
from relay.calls import failover, stream_options, times, whole_answers, whole_streams
from relay.calls.runs import Attempt, CallRun
from relay.calls.whole_answers import WantedAnswer, WholeAnswer
from relay.families.base import Endpoint, StreamReader
from relay.wire import beginnings, sse, upstream
from relay.wire.sse import Frames, FrameTooLarge
from relay.wire.upstream import Outgoing, UpstreamReply


@dataclass(slots=True, kw_only=True)
class BegunStream:
    """A stream whose first event is there. `shown` is what the client gets of it, `waiting` what came with it. `answer`
    is what came in the stream's place, whole: its room is occupied as long as its frames wait."""

    reply: UpstreamReply
    frames: Frames
    reader: StreamReader
    shown: list[bytes] = field(default_factory=list)
    waiting: deque[bytes] = field(default_factory=deque)
    answer: WholeAnswer | None = None

    def close(self) -> None:
        self.reply.close()
        if self.answer is not None:
            self.answer.close()


# What is held back of the frames before the first that carries something.
MOST_HELD, MOST_HELD_BYTES = 100, 64 * 1024
Answered = BegunStream | WholeAnswer


async def first(run: CallRun, candidates: Candidates, *, headers: dict[str, str]) -> Answered:
    """What the first channel gives that answers; `headers` are the client's. Whoever has it closes it. Raises
    CallFailed."""
    errors: list[UpstreamError] = []
    for candidate in candidates.ready:
        left = run.ends_at - asyncio.get_running_loop().time()
        if left <= 0:
            break
        if errors and run.attempt and not relay_channels.may_follow(candidate, run.attempt.candidate, errors[-1]):
            continue
        try:
            share = left / (len(candidates.ready) - len(errors))
            return await _attempt(run, candidate, headers, min(times.CONNECT_SECONDS, share))
        except UpstreamError as error:
            errors.append(error)
            if not failover.may_go_on(error):
                break
    raise failover.failed(errors, candidates.resting_seconds, model=run.demand.asked.model)


async def _attempt(run: CallRun, candidate: Candidate, headers: dict[str, str], connect_seconds: float) -> Answered:
    """Raises UpstreamError, which is written down."""
    attempt = run.begin(candidate)
    if attempt is None:
        raise UpstreamError(ErrorKind.RATE_LIMITED, "too many calls wait for this channel here", retry_after=1.0)
    try:
        async with asyncio.timeout_at(run.ends_at):
            answered = await _tried(run, attempt, headers, connect_seconds)
    except (UpstreamError, TimeoutError) as raised:
        error = raised if isinstance(raised, UpstreamError) else _late(attempt)
        await run.refused(attempt, error)
        raise error from raised
    run.answered(attempt)
    return answered


def _late(attempt: Attempt) -> UpstreamError:
    kind = ErrorKind.AMBIGUOUS if attempt.was_sent else ErrorKind.TRANSIENT
    return UpstreamError(kind, "no answer within the time of the call", code="time")


async def _tried(run: CallRun, attempt: Attempt, headers: dict[str, str], connect_seconds: float) -> Answered:
    """Once more without `stream_options` where the upstream refuses them. Raises UpstreamError."""
    takes = stream_options.are_taken(attempt.candidate)
    try:
        outgoing = await _outgoing(run, attempt, headers, connect_seconds, takes_stream_options=takes)
        return await _answered(run, attempt, outgoing)
    except UpstreamError as error:
        if not (takes and stream_options.were_refused(error, run.demand.asked)):
            raise
    attempt.was_sent = False
    outgoing = await _outgoing(run, attempt, headers, connect_seconds, takes_stream_options=False)
    answered = await _answered(run, attempt, outgoing)
    stream_options.remember(attempt.candidate, run.content.document)
    return answered


async def _outgoing(
    run: CallRun, attempt: Attempt, headers: dict[str, str], connect_seconds: float, *, takes_stream_options: bool
) -> Outgoing:
    demand, content = run.demand, run.content
    family, asked = demand.family, demand.asked
    endpoint = _endpoint(demand.group.platform, attempt)
    body = partial(family.body, takes_stream_options=takes_stream_options)
    arguments = (content.document, content.raw, asked, attempt.upstream_model)
    return Outgoing(
        url=family.url(endpoint, demand.path, asked),
        headers=family.headers(endpoint, headers),
        body=await threads.compute(body, *arguments) if content.is_large else body(*arguments),
        connect_seconds=connect_seconds,
        on_sent=attempt.sent,
    )


def _endpoint(platform: str, attempt: Attempt) -> Endpoint:
    return Endpoint(
        platform=platform,
        base_url=attempt.candidate.link.channel.base_url,
        credentials=attempt.candidate.credentials,
        upstream_model=attempt.upstream_model,
    )


async def _answered(run: CallRun, attempt: Attempt, outgoing: Outgoing) -> Answered:
    """Raises UpstreamError for what is no success."""
    demand, model = run.demand, attempt.upstream_model
    wanted = WantedAnswer(family=demand.family, asked=demand.asked, path=demand.path, upstream_model=model)
    reply = await upstream.post(outgoing)
    try:
        if not 200 <= reply.status < 300:
            raise await _refusal(run, reply)
        if not demand.asked.is_stream:
            return await whole_answers.received(reply, wanted, payer=demand.caller.account_id)
        begin = await beginnings.of(reply)
        if beginnings.are_json(begin):
            return await _whole_stream(reply, wanted, payer=demand.caller.account_id)
        if not beginnings.are_events(begin, reply.headers.get("Content-Type", "")):
            raise await _refusal(run, reply)
        return await _begun(reply, wanted, payer=demand.caller.account_id)
    except BaseException:
        reply.close()
        raise


async def _whole_stream(reply: UpstreamReply, wanted: WantedAnswer, *, payer: Hashable) -> BegunStream:
    """A whole answer as the stream that was asked for."""
    return await _as_stream(await whole_answers.received(reply, wanted, payer=payer), reply, wanted)


async def _as_stream(answer: WholeAnswer, reply: UpstreamReply, wanted: WantedAnswer) -> BegunStream:
    try:
        frames = await whole_streams.frames_of(answer, wanted)
    except BaseException:
        answer.close()
        raise
    reader = whole_streams.WholeReader(answer, len(frames))
    return BegunStream(reply=reply, frames=Frames(), reader=reader, waiting=deque(frames), answer=answer)


async def _refusal(run: CallRun, reply: UpstreamReply) -> UpstreamError:
    """What an answer without success stands for; what of its body does not come soon is not waited for."""
    body = b""
    try:
        async with asyncio.timeout(times.ERROR_BODY_SECONDS):
            while len(body) < whole_answers.ERROR_BYTES and (piece := await reply.read()):
                body += piece
    except (UpstreamError, TimeoutError):
        pass
    return run.demand.family.refusal(reply.status, reply.headers, body)


async def _begun(reply: UpstreamReply, wanted: WantedAnswer, *, payer: Hashable) -> BegunStream:
    """The stream as of the first frame that carries something, with those before it, which are held back for a moment.
    Raises UpstreamError where an error comes first, or nothing."""
    reader = wanted.family.stream(wanted.asked, wanted.upstream_model)
    begun = BegunStream(reply=reply, frames=Frames(), reader=reader)
    while not (reader.has_begun or reader.is_over or _is_full(begun.shown)):
        if not (begun.waiting or await _goes_on(begun)):
            return begun
        frame = begun.waiting.popleft()
        shown = reader.take(frame)
        if reader.error is not None:
            raise reader.error
        if reader.is_whole:
            answer = await whole_answers.in_frame(sse.data(frame) or b"", reply, wanted, payer=payer)
            return await _as_stream(answer, reply, wanted)
        if shown.strip():  # signs of life may come in any number
            begun.shown.append(shown)
    return begun


def _is_full(held: list[bytes]) -> bool:
    return len(held) >= MOST_HELD or sum(map(len, held)) >= MOST_HELD_BYTES


async def _goes_on(begun: BegunStream) -> bool:
    """Waits for more of it; False where what is held back has waited long enough. Raises UpstreamError at its end."""
    try:
        async with asyncio.timeout(times.BEAT_SECONDS if begun.shown else None):
            begun.waiting.extend(await more(begun))
    except TimeoutError:
        return False
    if not begun.waiting:
        raise UpstreamError(ErrorKind.AMBIGUOUS, "the stream has ended before its first event", code="network")
    return True


async def more(stream: BegunStream) -> list[bytes]:
    """The next frames; none at the end. Raises UpstreamError where it breaks off, or a frame never ends."""
    while piece := await _piece(stream):
        try:
            if frames := stream.frames.feed(piece):
                return frames
        except FrameTooLarge as error:
            raise UpstreamError(ErrorKind.AMBIGUOUS, "a frame is too large", code="size") from error
    last = stream.frames.rest()
    return [last] if last else []


async def _piece(stream: BegunStream) -> bytes:
    """What has come; empty at the end, and where a stream breaks off that lacks nothing any more."""
    try:
        return await stream.reply.read()
    except UpstreamError:
        if stream.reader.can_end:
            return b""
        raise
