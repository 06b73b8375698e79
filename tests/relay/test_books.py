"""The books for the event loop: each call gets what it would have got alone, and no end is lost."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest
from django.db import IntegrityError, connection

from billing import relayed_calls, web_processes
from billing.ledger import UnbalancedHold
from billing.models import Hold, RelayedCall, WebProcess
from billing.relayed_calls import NewCall, SeenUsage
from common import sql
from common.concurrency import threads
from common.database import time_limits
from common.errors import InsufficientQuota
from relay import books
from tests.account_lines import gathered, held_account
from tests.billing import relayed_steps as steps
from tests.faults.scenes import end_waiting_sessions
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
needs_row_locks = pytest.mark.skipif(connection.vendor != "postgresql", reason="one lock for everything")
AVAILABLE = 10_000_000


@pytest.fixture(autouse=True)
def no_limit_of_time(monkeypatch):
    monkeypatch.setattr(time_limits, "GROUP_LOCK_SECONDS", PATIENCE)


async def aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """On a thread that hands its connection back."""
    return await asyncio.to_thread(threads.returning_connection, function, *arguments)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, PATIENCE))


async def outcomes(*works: Awaitable[Any]) -> list[Any]:
    """What each returns or raises; all of them are one group."""
    with gathered(books._thread):
        tasks = [asyncio.ensure_future(work) for work in works]
        await asyncio.sleep(0)
    return await asyncio.gather(*tasks, return_exceptions=True)


def call_of(key, estimated: int = 500) -> NewCall:
    return steps.new_call(key, estimated, process_id=books.process_id())


def states() -> dict[str, str]:
    return dict(RelayedCall.objects.values_list("id", "state"))


def test_a_call_is_reserved_noted_and_ended(key):
    call = call_of(key)

    async def live() -> list[bool]:
        await books.reserve(call)
        assert await aside(states) == {call.call_id: "open"}
        await books.note(SeenUsage(call_id=call.call_id, usage=steps.USAGE, actual_micros=90))
        return [await books.end(steps.ending(call)) for _ in range(2)]

    assert run(live()) == [True, False]
    row = RelayedCall.objects.get()
    assert (row.state, row.actual_micros, row.noted_micros, row.process) == ("settled", 150, 90, call.process_id)
    key.account.refresh_from_db()
    assert (key.account.balance_micros, key.account.held_micros) == (AVAILABLE - 150, 0)


def test_a_group_is_one_transaction_and_judged_in_its_order(key, other_key):
    calls = [call_of(key, AVAILABLE - 1), call_of(key, 2), call_of(other_key), call_of(key, 1)]
    found = run(outcomes(*[books.reserve(call) for call in calls]))
    assert [type(each) for each in found] == [type(None), InsufficientQuota, type(None), type(None)]
    assert states().keys() == {calls[n].call_id for n in (0, 2, 3)}
    assert sql.column("SELECT count(DISTINCT created_at) FROM billing_relayedcall") == [1]


def test_money_that_comes_back_is_held_anew(key):
    before, after = call_of(key, AVAILABLE), call_of(key, AVAILABLE)
    run(books.reserve(before))
    assert run(outcomes(books.reserve(after), books.end(steps.ending(before, None)))) == [None, True]


def test_a_call_that_cannot_be_written_fails_alone(key, other_key):
    good = [call_of(key), call_of(other_key), call_of(key)]
    bad = replace(call_of(key), estimated_micros=-1)  # no hold is negative
    found = run(outcomes(*[books.reserve(call) for call in (good[0], bad, *good[1:])]))
    assert isinstance(found.pop(1), IntegrityError)
    assert (found, states().keys()) == ([None] * 3, {call.call_id for call in good})


def test_an_end_that_cannot_be_written_fails_alone(key):
    good, bad = call_of(key), call_of(key)
    run(outcomes(books.reserve(good), books.reserve(bad)))
    Hold.objects.filter(reference=bad.call_id).update(state="released")
    found = run(outcomes(books.end(steps.ending(bad)), books.end(steps.ending(good))))
    assert (type(found[0]), found[1]) == (UnbalancedHold, True)
    assert states() == {good.call_id: "settled", bad.call_id: "open"}


@needs_row_locks
def test_nobody_waits_for_the_account_of_somebody_else(key, other_key):
    busy, free = [call_of(key), call_of(key)], [call_of(other_key), call_of(other_key)]
    run(outcomes(books.reserve(busy[0]), books.reserve(free[0])))

    async def live() -> None:
        with held_account(key.account.pk):
            waiting = [asyncio.ensure_future(w) for w in (books.end(steps.ending(busy[0])), books.reserve(busy[1]))]
            assert await outcomes(books.end(steps.ending(free[0])), books.reserve(free[1])) == [True, None]
            assert not any(task.done() for task in waiting)
        assert await asyncio.gather(*waiting) == [True, None]

    run(live())
    assert states() == {
        call.call_id: state for call, state in zip([*busy, *free], ["settled", "open"] * 2, strict=True)
    }


@needs_row_locks
def test_an_end_outlives_a_lost_connection(key):
    call = call_of(key)
    run(books.reserve(call))

    async def live() -> bool:
        with held_account(key.account.pk):
            ending = asyncio.ensure_future(books.end(steps.ending(call)))
            await aside(wait_until, end_waiting_sessions)
        return await ending

    assert run(live()) is True
    assert states() == {call.call_id: "settled"}
    assert not books._repeated


def test_a_connection_that_cannot_be_handed_back_loses_no_end(key, monkeypatch):
    first, second = call_of(key), call_of(key)
    run(outcomes(books.reserve(first), books.reserve(second)))
    returning = threads.returning_connection

    def fail_once(function, *arguments, **options):
        returning(function, *arguments, **options)
        if function is books._end_free:
            monkeypatch.setattr(threads, "returning_connection", returning)
            raise OSError("the pool is closed")

    monkeypatch.setattr(threads, "returning_connection", fail_once)
    ends = [books.end(steps.ending(call)) for call in (first, second)]
    assert run(outcomes(*ends)) == [True, True]
    assert set(states().values()) == {"settled"}


def test_a_caller_that_leaves_before_its_turn_has_reserved_nothing(key):
    call = call_of(key)

    async def live() -> None:
        with gathered(books._thread):
            task = asyncio.ensure_future(books.reserve(call))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        await books.reserve(call_of(key))

    run(live())
    assert call.call_id not in states()


def test_what_is_reserved_for_a_caller_that_left_is_released(key, monkeypatch):
    call, began, goes_on = call_of(key), threading.Event(), threading.Event()
    reserve_free = relayed_calls.reserve_free

    def reserve_slowly(calls):
        began.set()
        goes_on.wait(PATIENCE)
        return reserve_free(calls)

    monkeypatch.setattr(relayed_calls, "reserve_free", reserve_slowly)

    async def live() -> None:
        task = asyncio.ensure_future(books.reserve(call))
        await asyncio.to_thread(began.wait, PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run(live())
    goes_on.set()
    wait_until(lambda: states() == {call.call_id: "released"})
    assert RelayedCall.objects.get().outcome == "unsent"


def test_an_end_goes_on_without_its_caller(key):
    call = call_of(key)
    run(books.reserve(call))

    async def live() -> None:
        with gathered(books._thread):
            task = asyncio.ensure_future(books.end(steps.ending(call)))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    run(live())
    wait_until(lambda: states() == {call.call_id: "settled"})


def test_a_process_that_was_declared_dead_goes_on_under_another_id(key):
    before, after = call_of(key), call_of(key)
    run(books.reserve(before))
    web_processes.stop(before.process_id)
    run(books.reserve(after))
    processes = dict(RelayedCall.objects.values_list("id", "process"))
    assert processes[after.call_id] == books.process_id() != processes[before.call_id]


def test_the_heart_beats_until_the_lease_is_given_up(key, settings):
    settings.WORKER_LEASE = 0.04
    run(books.reserve(call_of(key)))
    row = WebProcess.objects.get()
    wait_until(lambda: WebProcess.objects.get().heartbeat_at > row.heartbeat_at)
    assert row.stopped_at is None
    books._give_up()
    assert WebProcess.objects.get().stopped_at is not None
    assert books.process_id() != row.pk
