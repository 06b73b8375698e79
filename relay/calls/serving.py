"""Serves one relayed call from its body to its last byte: reads, reserves, sends, passes on, settles.

A reserved call is ended exactly once, before its client gets the end of the answer, even on errors and when this
process stops. A client that leaves before anything was sent ends its call. Once an upstream has taken the call, its
answer is read to the end without the client, and charged as reported.
"""

import asyncio
from contextlib import suppress

from catalog import relay_channels
from catalog.groups import GroupEntry
from catalog.relay_channels import Candidates, ChannelQuery
from common.concurrency import threads
from common.errors import ApiError, InternalError, UpstreamUnavailable, UpstreamUnknown
from common.http.asgi import Receive, Scope, Send, disconnected
from common.http.front_body import Body
from common.process import shutdown
from relay.admission import RelayCaller
from relay.calls import attempts, demands, failover, permissions, times
from relay.calls.begun_streams import BegunStream
from relay.calls.clients import RelayClient
from relay.calls.demands import Content, Demand
from relay.calls.ending import Finish
from relay.calls.failover import CallFailed
from relay.calls.in_flight import in_flight
from relay.calls.interruptions import STOPS, Guard
from relay.calls.runs import CALL_ID, CLIENT_LEFT, CallRun, ClientLeft
from relay.calls.streaming import Relaying
from relay.families.base import CallPath, Family


async def serve(
    caller: RelayCaller,
    group: GroupEntry,
    family: Family,
    path: CallPath,
    scope: Scope,
    body: Body,
    receive: Receive,
    send: Send,
) -> None:
    """ASGI application for a permitted call; the caller closes the body. Raises the ApiError for the client until
    something was sent."""
    content, client = Content(body), RelayClient(send)
    guard = Guard(client)
    with in_flight.slot(guard, caller.account_id), guard.cancel_on_disconnect(disconnected(receive)):
        demand = await demands.read_demand(content, caller=caller, group=group, family=family, path=path)
        await _served(guard, CallRun(demand, content, client), _headers(scope, demand))


def _headers(scope: Scope, demand: Demand) -> dict[str, str]:
    """Returns the client's headers by lower-case name; the first of repeated ones, but all betas."""
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
    betas = permissions.sent_betas(demand.path.betas, demand.group)
    return {**headers, "anthropic-beta": ",".join(betas)} if "anthropic-beta" in headers else headers


async def _served(guard: Guard, run: CallRun, headers: dict[str, str]) -> None:
    """Serves the call. Raises the ApiError for the client, naming the call."""
    candidates = await _candidates(run.demand)
    if not candidates.ready:
        raise failover.end_without_answer([], candidates.resting, model=run.demand.asked.model).error
    await run.open(candidates.ready[0].link.channel.id)
    guard.run = run
    try:
        await _relayed(guard, run, candidates, headers)
    except CallFailed as failed:
        await run.end(failed.finish, failed.error.status)
        raise _named(failed.error, run) from failed
    except asyncio.CancelledError:
        await _interrupted(guard, run)
        raise
    except ClientLeft:
        await run.end(Finish.LEFT, CLIENT_LEFT)
    except Exception as fault:
        error = InternalError(may_have_cost=run.was_sent)
        if guard.relaying is not None:
            await _last_words(guard.relaying, error)
        await run.end(Finish.UNKNOWN if run.was_sent else Finish.REFUSED, error.status)
        raise _named(error, run) from fault
    finally:
        run.close()


async def _candidates(demand: Demand) -> Candidates:
    wanted = ChannelQuery(dialect=demand.family.name, model=demand.asked.model, account_id=demand.caller.account_id)
    asked = (demand.group, wanted, demand.caller.catalog_version)
    if found := relay_channels.remembered(*asked):
        return found
    return await threads.call(relay_channels.candidates, *asked)


async def _relayed(guard: Guard, run: CallRun, candidates: Candidates, headers: dict[str, str]) -> None:
    """Sends the call and passes on the answer. Raises CallFailed until something was sent to the client."""
    answered = await attempts.send_until_answered(run, candidates, headers=headers)
    run.content.close()
    try:
        if isinstance(answered, BegunStream):
            guard.relaying = Relaying(run, answered)
            await guard.relaying.run()
            return
        run.usage, run.delivered, run.is_complete = answered.usage, answered.delivered, True
        run.has_failed = answered.has_failed
        await run.end(*run.finish)
        await answered.send(run.client.send, run.headers)
    finally:
        answered.close()


async def _interrupted(guard: Guard, run: CallRun) -> None:
    """Ends a call whose client has left or whose process stops. Raises the ApiError for a client that is still
    connected and has read nothing."""
    stops = not run.client.has_left and (guard.is_stopping or shutdown.is_stopping())
    if not stops or run.has_ended:
        await run.end(Finish.UNKNOWN if run.is_lost else Finish.LEFT, CLIENT_LEFT)
    elif guard.relaying is not None:
        await _last_words(guard.relaying, UpstreamUnknown(f"{STOPS} The answer was cut off."))
    else:
        error: ApiError = UpstreamUnknown() if run.was_sent else UpstreamUnavailable(STOPS)
        await run.end(Finish.UNKNOWN if run.was_sent else Finish.REFUSED, error.status)
        raise _named(error, run)


async def _last_words(relaying: Relaying, error: ApiError) -> None:
    """Sends the last frame, which the client may never read."""
    with suppress(TimeoutError):
        async with asyncio.timeout(times.LAST_WORDS_SECONDS):
            await relaying.cut(error)


def _named(error: ApiError, run: CallRun) -> ApiError:
    if run.call_id:
        error.headers[CALL_ID] = run.call_id
    return run.with_client_model(error)
