"""Books relayed calls for the event loop: what arrives while a transaction runs shares the next transaction.

One thread writes for all accounts that are not locked. Work that must wait for a locked account goes to a queue of that
account, on threads of its share, so only that account's own calls wait. An end that fails because of the database is
retried until it is committed.
"""

import asyncio
import atexit
import logging
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from billing import relayed_calls
from billing.relayed_calls import CallEnding, NewCall, ProcessDeclaredDead, ReservationUnknown, SeenUsage
from common import sql, swallowed
from common.concurrency import promises, threads
from common.concurrency.gathering import LATER, AccountLines, Gathering, Later
from common.database.database_retry import AWAY, apart, is_held_up, is_passing, reset_connections
from relay.lease import Lease

logger = logging.getLogger(__name__)
Item = NewCall | CallEnding | SeenUsage
Line = Gathering[Item, bool]
Outcome = bool | Exception | Line
REST_SECONDS = 0.5
UNSENT = "unsent"


def process_id() -> str:
    """Returns the id of this web process without a query; the first reservation registers it."""
    return lease.id


async def reserve(call: NewCall) -> None:
    """Opens the call and holds its money, committed on return. Raises InsufficientBalance and database errors. If the
    caller is canceled, or the commit is uncertain, the reservation is released."""
    promise = _shared_line.add(call, payer=call.account_id)
    try:
        await promises.awaited(promise)
    except asyncio.CancelledError:
        promise.add_done_callback(partial(_release_unsent, call))
        raise


async def note(seen: SeenUsage) -> None:
    """Saves usage for whichever process ends the call if this one dies. Never raises."""
    await promises.awaited(_shared_line.add(seen))


async def end(ending: CallEnding) -> bool:
    """Commits the call's end, even if the caller is canceled. Returns False if the call had already ended. Waits while
    the database is unavailable."""
    return await asyncio.shield(promises.awaited(_end(ending)))


def forget() -> None:
    """Resets this process's state, for tests that empty the database."""
    lease.forget()
    _repeated.clear()


def _give_up() -> None:
    try:
        lease.give_up()
    except AWAY as error:
        logger.warning("the database is away, other processes wait for the lease to expire: %s", error)


def _end(ending: CallEnding) -> "Future[bool]":
    return _shared_line.add(ending, payer=ending.account_id)


def _release_unsent(call: NewCall, promise: "Future[bool]") -> None:
    """Releases a reservation that nobody waits for any more."""
    if not promise.cancelled() and not promise.exception() and promise.result():
        _end(_unsent(call))


def _unsent(call: NewCall) -> CallEnding:
    return CallEnding(call_id=call.call_id, account_id=call.account_id, actual_micros=None, usage=None, outcome=UNSENT)


def _start_resting(run: Callable[[], None]) -> None:
    """Runs the retries on a thread of their own, so that they delay no other end."""
    threading.Thread(target=run, name="books", daemon=True).start()


def _work_shared(items: Sequence[Item]) -> list[Outcome]:
    return _by_kind(items, {SeenUsage: _note, CallEnding: _end_free, NewCall: _reserve_free})


def _work_own(items: Sequence[Item]) -> list[Outcome]:
    """Writes the items of one account, waiting for its lock."""
    return _by_kind(items, {CallEnding: _end_own, NewCall: _reserve_own})


def _by_kind(
    items: Sequence[Item], steps: dict[type[Item], Callable[[Sequence[Any]], Sequence[Outcome]]]
) -> list[Outcome]:
    """Runs ends before reservations, so that released money can be held again. A failure of one kind does not affect
    the others."""
    outcomes: dict[int, Outcome] = {}
    for kind, step in steps.items():
        places = [place for place, item in enumerate(items) if isinstance(item, kind)]
        if places:
            found = _run(step, [items[place] for place in places])
            outcomes.update(zip(places, found, strict=True))
    return [outcomes[place] for place in range(len(items))]


def _run(step: Callable[[Sequence[Any]], Sequence[Outcome]], items: Sequence[Item]) -> Sequence[Outcome]:
    """Runs a step, which handles its own errors; what remains are errors of getting or returning the connection."""
    try:
        return threads.returning_connection(step, items)
    except Exception as error:
        endings = [item for item in items if isinstance(item, CallEnding)]
        return _resting(endings, error) if endings else [error] * len(items)


def _note(seen: Sequence[SeenUsage]) -> list[Outcome]:
    try:
        relayed_calls.note(seen)
    except Exception:
        swallowed.note("relay.books.usage")
    return [True] * len(seen)


def _end_free(endings: Sequence[CallEnding]) -> list[Outcome]:
    """Writes the ends that need no lock wait; the others go to their account's queue."""
    try:
        done = relayed_calls.end_free(endings)
    except AWAY as error:
        return _resting(endings, error)
    except Exception:
        swallowed.note("relay.books.end_together")
        done = set()
    return [ending.call_id in done or _own_lines.of(ending.account_id) for ending in endings]


def _end_own(endings: Sequence[CallEnding]) -> Sequence[Outcome]:
    is_repeated = any(ending.call_id in _repeated for ending in endings)
    step = partial(relayed_calls.end, is_repeated=is_repeated)
    try:
        outcomes = apart(step, endings, of_all=AWAY)
    except AWAY as error:
        return _resting(endings, error)
    for ending, outcome in zip(endings, outcomes, strict=True):
        _repeated.discard(ending.call_id)
        if isinstance(outcome, Exception):
            logger.critical("the end of call %s cannot be written", ending.call_id, exc_info=outcome)
    return outcomes


def _resting(endings: Sequence[CallEnding], error: Exception) -> list[Outcome]:
    """Queues the ends for repetition, since they may have been committed or not."""
    if not is_passing(error):
        return [error] * len(endings)
    logger.warning("the ends of %d relayed calls are tried again: %s", len(endings), error)
    _repeated.update(ending.call_id for ending in endings)
    return [_resting_line] * len(endings)


def _rest(endings: Sequence[Item]) -> list[Line | Later]:
    """Waits until the database is available again."""
    time.sleep(REST_SECONDS)
    try:
        threads.returning_connection(sql.fetch, "SELECT 1")
    except AWAY as error:
        logger.warning("the database is away: %s", error)
        reset_connections()
        return [LATER] * len(endings)
    return [_own_lines.of(ending.account_id) for ending in endings if isinstance(ending, CallEnding)]


def _reserve_free(calls: Sequence[NewCall]) -> list[Outcome]:
    """Writes the reservations that need no lock wait; the others go to their account's queue."""
    try:
        outcomes = _leased(relayed_calls.reserve_free, calls)
    except ReservationUnknown as error:
        return _doubted(calls, error)
    except AWAY as error:
        return [_own_lines.of(call.account_id) if is_held_up(error) else error for call in calls]
    except Exception:
        swallowed.note("relay.books.reserve_together")
        return [_own_lines.of(call.account_id) for call in calls]
    return [
        outcomes[call.call_id] or True if call.call_id in outcomes else _own_lines.of(call.account_id) for call in calls
    ]


def _reserve_own(calls: Sequence[NewCall]) -> Sequence[Outcome]:
    return apart(_reserve_part, calls)


def _reserve_part(calls: Sequence[NewCall]) -> list[Outcome]:
    """Reserves a part of an account's queue; parts before it may be committed when the database fails."""
    try:
        outcomes = _leased(relayed_calls.reserve, calls)
    except ReservationUnknown as error:
        return _doubted(calls, error)
    except AWAY as error:
        return [error] * len(calls)
    return [refusal or True for refusal in outcomes]


def _leased(step: Callable[[list[NewCall]], Any], calls: Sequence[NewCall]) -> Any:
    """Runs the step with this process's current registration."""
    current = lease.hold()
    try:
        return step([replace(call, process_id=current) for call in calls])
    except ProcessDeclaredDead:
        lease.lose(current)
        current = lease.hold()
        return step([replace(call, process_id=current) for call in calls])


def _doubted(calls: Sequence[NewCall], error: Exception) -> list[Outcome]:
    """Fails all calls, none of which was sent; anything that was reserved is released once the database is
    available."""
    for call in calls:
        _repeated.add(call.call_id)
        _resting_line.add(_unsent(call), payer=call.account_id)
    return [error] * len(calls)


lease = Lease()
_repeated: set[str] = set()
"""Ids of calls whose last transaction may have been committed without our knowing."""
_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="books")
_shared_line: Line = Gathering(_work_shared, start=_thread.submit)
_resting_line: Line = Gathering(_rest, start=_start_resting)
_own_lines: AccountLines[Item, bool] = AccountLines(_work_own)
atexit.register(_give_up)
