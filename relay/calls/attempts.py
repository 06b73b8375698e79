"""Sends a relayed call to one channel after another until one answers, whole or with a stream's first event.

The client has read nothing until then, so the call may go on to the next channel if this one certainly accepted nothing
(`relay/calls/failover.py`). One deadline covers all attempts.
"""

import asyncio
from functools import partial

from adapters.base import ErrorKind, UpstreamError
from catalog import relay_channels
from catalog.relay_channels import Candidate, Candidates
from common.concurrency import threads
from relay.calls import failover, replies, stream_options, times
from relay.calls.replies import Answered
from relay.calls.runs import Attempt, CallRun
from relay.calls.wanted_answers import WantedAnswer
from relay.families.base import Endpoint
from relay.wire import upstream
from relay.wire.upstream import Outgoing


async def send_until_answered(run: CallRun, candidates: Candidates, *, headers: dict[str, str]) -> Answered:
    """Returns the first channel's answer, which the caller closes. `headers` are the client's. Raises CallFailed."""
    errors: list[UpstreamError] = []
    for candidate in candidates.ready:
        left = run.ends_at - asyncio.get_running_loop().time()
        if left <= 0:
            break
        if errors and run.attempt and not relay_channels.may_follow(candidate, run.attempt.candidate, errors[-1]):
            continue
        if candidate.call.tried and not await threads.call(relay_channels.begin_trial, candidate):
            continue
        try:
            share = left / (len(candidates.ready) - len(errors))
            return await _attempt(run, candidate, headers, min(times.CONNECT_SECONDS, share))
        except UpstreamError as error:
            errors.append(error)
            if not failover.may_go_on(error):
                break
    raise failover.end_without_answer(errors, candidates.resting, model=run.demand.asked.model)


async def _attempt(run: CallRun, candidate: Candidate, headers: dict[str, str], connect_seconds: float) -> Answered:
    """Sends the call to one channel. Raises UpstreamError after recording it."""
    attempt = run.begin(candidate)
    if attempt is None:
        raise UpstreamError(
            ErrorKind.RATE_LIMITED, "too many calls of this process wait for this channel", retry_after=1.0
        )
    try:
        async with asyncio.timeout_at(run.ends_at):
            answered = await _tried(run, attempt, headers, connect_seconds)
    except (UpstreamError, TimeoutError) as raised:
        error = raised if isinstance(raised, UpstreamError) else _late(attempt)
        await run.record_failure(attempt, error)
        raise error from raised
    run.record_success(attempt)
    return answered


def _late(attempt: Attempt) -> UpstreamError:
    kind = ErrorKind.AMBIGUOUS if attempt.was_sent else ErrorKind.TRANSIENT
    return UpstreamError(kind, "no answer within the call's time limit", code="time")


async def _tried(run: CallRun, attempt: Attempt, headers: dict[str, str], connect_seconds: float) -> Answered:
    """Sends the call, and again without `stream_options` if the upstream refuses them. Raises UpstreamError."""
    takes = attempt.candidate.takes_stream_options
    try:
        outgoing = await _outgoing(run, attempt, headers, connect_seconds, takes_stream_options=takes)
        return await _answered(run, attempt, outgoing)
    except UpstreamError as error:
        if not (takes and stream_options.were_refused(error, run.demand.asked)):
            raise
    attempt.was_sent = False
    outgoing = await _outgoing(run, attempt, headers, connect_seconds, takes_stream_options=False)
    answered = await _answered(run, attempt, outgoing)
    await stream_options.remember(attempt.candidate, run.content.document)
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
    """Reads the answer. Raises UpstreamError if it is not a success."""
    demand = run.demand
    wanted = WantedAnswer(
        family=demand.family,
        asked=demand.asked,
        path=demand.path,
        upstream_model=attempt.upstream_model,
        payer=demand.caller.account_id,
    )
    return await replies.read_answer(await upstream.post(outgoing), wanted)
