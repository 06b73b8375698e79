"""What the streams and waits of one process share."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest

from accounts import keys
from accounts.authentication import Caller, admit
from common.concurrency import threads
from common.errors import StreamLimitExceeded
from common.process import shutdown
from tasks.events import hub as hub_module
from tasks.events import listeners
from tasks.events.hub import Hub
from tasks.events.listeners import Listener
from tasks.events.readmission import by_secret
from tasks.models import TaskEvent
from tests.tasks.events.writing import finish, open_transaction, stored_ids, write
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller(key) -> Caller:
    return admit(f"Bearer {key.secret}").caller


@pytest.fixture
def other_caller(other_key) -> Caller:
    return admit(f"Bearer {other_key.secret}").caller


@asynccontextmanager
async def placed(hub: Hub, caller: Caller) -> AsyncIterator[Listener]:
    """A listener that knows its mark."""
    async with hub.listen(by_secret(caller)) as listener:
        while listener.mark is None:
            await listener.news(seconds=PATIENCE)
        yield listener


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(scenario(), PATIENCE))


def test_all_streams_of_a_key_see_its_events_and_no_others(caller, other_caller, make_task):
    task = make_task()
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, caller) as one, placed(hub, caller) as two, placed(hub, other_caller) as foreign:
            before = one.mark
            await threads.call(write, task)
            while not one.since(before):
                await one.news(seconds=PATIENCE)
            assert [event.task_id for event in one.since(before)] == [task.id]
            assert two.since(before) == one.since(before)
            assert foreign.since(before) == []

    run(scenario)


def test_streams_and_waits_are_woken_by_the_commit(caller, make_task, monkeypatch):
    monkeypatch.setattr(hub_module, "SAFETY_SECONDS", 3_600.0)
    task = make_task()
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, caller) as listener:
            for _ in range(3):
                before = listener.mark
                await threads.call(write, task)
                while not listener.since(before):
                    await listener.news()
            with hub.ended(task.id) as wait:
                await threads.call(finish, task)
                assert await wait is True

    run(scenario)


def test_a_lost_wake_up_is_healed_by_the_next_read(caller, make_task, monkeypatch):
    monkeypatch.setattr(hub_module, "SAFETY_SECONDS", 0.1)
    task = make_task()
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, caller) as listener:
            before = listener.mark
            await threads.call(
                lambda: TaskEvent.objects.create(task=task, key_id=task.key_id, status="running", attempt=1)
            )
            while not listener.since(before):
                await listener.news()

    run(scenario)


def test_every_stream_has_its_heartbeats_by_one_timer(caller, other_caller, settings):
    settings.SSE_HEARTBEAT = 0.1
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, caller) as one, placed(hub, other_caller) as other:
            for listener in (one, other) * 2:
                listener.beats()
            while not (one.is_silent and other.is_silent):
                await (other if one.is_silent else one).news()
            one.beats()
            assert not one.is_silent
        assert not hub._pulse._due

    run(scenario)


def test_memory_keeps_the_latest_and_says_where_it_ends(caller, make_task, monkeypatch):
    monkeypatch.setattr(listeners, "KEPT_EVENTS", 3)
    task = make_task()
    hub = Hub()

    def write_five() -> None:
        for _ in range(5):
            write(task)

    async def scenario() -> None:
        async with placed(hub, caller) as listener:
            before = listener.mark
            await threads.call(write_five)
            ids = await threads.call(stored_ids)
            while listener.mark != ids[-1]:
                await listener.news(seconds=PATIENCE)
            assert listener.since(before) is None
            assert listener.since(ids[0]) is None
            assert [event.id for event in listener.since(ids[1])] == ids[2:]
            assert listener.since(ids[4]) == []

    run(scenario)


def test_nothing_is_read_or_kept_when_nobody_listens(caller, make_task):
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, caller):
            pass
        await asyncio.gather(hub._follower, hub._guard)
        assert (hub.logs, hub._arrivals) == ({}, set())

    run(scenario)


def test_a_key_has_five_streams_and_its_place_is_free_again(caller, other_caller):
    hub = Hub()

    async def scenario() -> None:
        async with AsyncExitStack() as five:
            for _ in range(5):
                await five.enter_async_context(hub.listen(by_secret(caller)))
            with pytest.raises(StreamLimitExceeded):
                await hub.listen(by_secret(caller)).__aenter__()
            async with hub.listen(by_secret(other_caller)):
                pass
        async with hub.listen(by_secret(caller)):
            pass

    run(scenario)


def test_a_listener_is_ended_whatever_it_waits_for(caller):
    hub = Hub()

    async def scenario() -> None:
        async with hub.listen(by_secret(caller)) as listener:
            asyncio.get_running_loop().call_later(0.05, listener.end)
            await asyncio.Event().wait()
        assert hub.is_idle

    run(scenario)


def test_a_time_out_of_the_streams_own_is_not_swallowed(caller):
    hub = Hub()

    async def scenario() -> None:
        with pytest.raises(TimeoutError):
            async with hub.listen(by_secret(caller)):
                raise TimeoutError

    run(scenario)


def test_a_stopping_process_lets_streams_and_waits_go(caller, make_task, request):
    request.addfinalizer(lambda: shutdown.watch(lambda: True))
    hub, task = Hub(), make_task()

    async def scenario() -> None:
        with hub.ended(task.id) as wait:
            async with hub.listen(by_secret(caller)):
                shutdown.watch(lambda: False)
                await asyncio.Event().wait()
            assert await wait is False

    run(scenario)


def test_disabled_keys_are_found_out(caller, key, other_caller, settings):
    settings.SSE_HEARTBEAT = 0.1
    hub = Hub()

    async def scenario() -> None:
        async with placed(hub, other_caller) as other:
            async with placed(hub, caller):
                await threads.call(keys.disable, key.record)
                await asyncio.Event().wait()
            assert not other._is_over

    run(scenario)


def test_a_wait_sees_an_end_to_come(make_task):
    hub, task = Hub(), make_task()

    async def scenario() -> None:
        with hub.ended(task.id) as wait:
            while hub._unchecked:  # until it is known that the end is not past
                await asyncio.sleep(0.01)
            assert not wait.done()
            await threads.call(finish, task)
            assert await wait is True

    run(scenario)


@pytest.mark.parametrize("origin", ["async", "sync"])
def test_a_wait_sees_an_end_that_is_past(make_task, origin):
    hub, task = Hub(), make_task("failed", origin=origin)

    async def scenario() -> None:
        with hub.ended(task.id) as wait:
            assert await wait is True

    run(scenario)


def test_waits_of_one_task_end_together_and_leave_nothing(make_task):
    hub, task, other = Hub(), make_task(), make_task()

    async def scenario() -> None:
        with hub.ended(task.id) as one, hub.ended(task.id) as two, hub.ended(other.id) as three:
            await threads.call(finish, task)
            assert await asyncio.gather(one, two) == [True, True]
            assert not three.done()
        assert hub.is_idle
        assert not hub._unchecked

    run(scenario)


def test_waits_do_not_stand_at_a_gap(make_task, concurrent):
    hub, task = Hub(), make_task()

    async def scenario() -> None:
        with hub.ended(task.id) as wait:
            await threads.call(finish, task)
            assert await wait is True

    with open_transaction(make_task()):
        run(scenario)
