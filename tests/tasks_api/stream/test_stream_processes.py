"""Streams and the process that serves them: restarts, shutdown, clients that do not read, and many at once."""

import resource
import statistics
import time

import psutil
import pytest

from common import sql
from common.concurrency import threads
from tasks.events import events
from tests.processes import TestStack
from tests.rows import IssuedKey, make_account, make_key, make_task
from tests.tasks import steps
from tests.tasks_api.stream import sse
from tests.tasks_api.stream.sse import Client, Crowd
from tests.tasks_api.stream.traffic import Traffic, latencies, stored, told
from tools.children import Child, wait_until

CUT = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = %s"

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def make_keys(count: int) -> list[IssuedKey]:
    account = make_account("many keys")
    return [make_key(account, name=f"key {number}") for number in range(count)]


def report(measured: str) -> None:
    """Shown with -s or -rP."""
    print(f"\n{measured}", end="")  # noqa: T201


def port_of(stack: TestStack) -> int:
    return int(stack.environment["PORT"])


def worker_memory(web: Child) -> int:
    """Bytes of the one process that serves."""
    (worker,) = psutil.Process(web.process.pid).children()
    return int(worker.memory_info().rss)


def everything_is_told(crowd: Crowd, keys: list[IssuedKey]) -> None:
    """Every member has seen every transition of its key exactly once, in the order of the cursors."""
    truth = {key.secret: stored(key.id) for key in keys}
    wait_until(lambda: all(len(m.events) >= len(truth[m.secret]) for m in crowd.members), what="the last events")
    for member in crowd.members:
        assert told(member) == truth[member.secret]
        assert member.resets == 0


def flow_over_a_restart(stack: TestStack, *, keys: int, streams: int, per_second: int, tasks: int) -> None:
    """So many tasks end before, during and after the time in which nobody serves."""
    issued = make_keys(keys)
    secrets = [issued[number % keys].secret for number in range(streams)]
    noise = [make_task(key) for key in issued]
    web = stack.start_web(WEB_CONCURRENCY="2")
    with Crowd([port_of(stack)], secrets).reading() as crowd:
        crowd.wait_until_open()
        with Traffic(issued, per_second=per_second, noise=noise).flowing() as traffic:
            traffic.end_more(tasks)
            web.terminate()
            assert web.wait() == 0
            traffic.end_more(tasks)
            stack.start_web(WEB_CONCURRENCY="2")
            traffic.end_more(tasks)
        wait_until(lambda: all(member.connections > 1 for member in crowd.members), what="everybody's return")
        everything_is_told(crowd, issued)


def test_nothing_is_lost_or_repeated_over_a_restart(own_web, image_model):
    flow_over_a_restart(own_web, keys=6, streams=24, per_second=100, tasks=40)


@pytest.mark.soak
def test_two_hundred_streams_lose_and_repeat_nothing_over_a_restart(own_web, image_model):
    flow_over_a_restart(own_web, keys=40, streams=200, per_second=100, tasks=600)


@pytest.mark.soak
def test_events_arrive_soon_after_their_commit(own_web, image_model):
    keys = make_keys(5)
    own_web.start_web()
    with Crowd([port_of(own_web)], [key.secret for key in keys]).reading() as crowd:
        crowd.wait_until_open()
        with Traffic(keys, per_second=30).flowing() as traffic:
            traffic.end_more(60)
        everything_is_told(crowd, keys)
    seconds = latencies(crowd.members)
    median, p99 = statistics.median(seconds), seconds[int(len(seconds) * 0.99)]
    report(f"commit to client: median {median * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms of {len(seconds)} events")
    assert median < 0.15


def test_open_streams_do_not_hold_up_sigterm(own_web):
    web = own_web.start_web()
    clients = [Client(port_of(own_web), sse.request(key.secret)) for key in make_keys(4) for _ in range(5)]
    for client in clients:
        client.placed()
    web.terminate()
    for client in clients:
        client.wait_for_end()
    assert web.wait() == 0
    for client in clients:
        client.socket.close()


@pytest.mark.soak
def test_a_client_that_does_not_read_costs_little_and_reads_all_later(own_web, key):
    web = own_web.start_web()
    slow = Client(port_of(own_web), sse.request(key.secret), receive_buffer=4096)
    slow.head()
    before = worker_memory(web)
    task = make_task(key)
    for _ in range(30):
        events.record((task.id, key.id, "running", attempt) for attempt in range(1_000))
    cursors = [cursor for cursor, _ in stored(key.id)]
    quick = Client(port_of(own_web), sse.request(key.secret, cursor=0))
    assert [frame.id for frame in quick.events(30_000)] == cursors
    grown = worker_memory(web) - before
    report(f"a client 30,000 events behind, and one that replays them: {grown / 2**20:.1f} MiB")
    assert grown < 10 * 2**20
    assert [frame.id for frame in slow.events(30_000)] == cursors
    slow.socket.close()
    quick.socket.close()


def test_lost_database_connections_lose_no_events(own_web, concurrent):
    keys = make_keys(3)
    tasks = [make_task(key) for key in keys]
    web_name = f"web {own_web.environment['PORT']}"
    own_web.start_web(PGAPPNAME=web_name)
    with Crowd([port_of(own_web)], [key.secret for key in keys]).reading() as crowd:
        crowd.wait_until_open()
        for attempt in range(3):
            wait_until(lambda: sql.fetch(CUT, [web_name]), what="a connection to cut")
            events.record((task.id, task.key_id, "running", attempt) for task in tasks)
        everything_is_told(crowd, keys)


@pytest.mark.soak
def test_two_thousand_idle_streams_fit_one_process(own_web, image_model):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 20_000), hard))
    keys = make_keys(400)
    web = own_web.start_web()
    with Crowd([port_of(own_web)], [keys[0].secret]).reading() as warm:
        warm.wait_until_open()
    time.sleep(0.5)
    before = worker_memory(web)
    with Crowd([port_of(own_web)], [key.secret for key in keys for _ in range(5)]).reading() as crowd:
        began = time.monotonic()
        crowd.wait_until_open()
        opened = time.monotonic() - began
        time.sleep(3)
        each = (worker_memory(web) - before) / 2000
        steps.submitted(keys[7])
        receivers = crowd.members[35:40]
        wait_until(lambda: all(member.events for member in receivers))
        assert sum(len(member.events) for member in crowd.members) == 5
        assert all(member.connections == 1 for member in crowd.members)
        assert psutil.Process(web.process.pid).children()[0].num_threads() < threads.THREADS + 12
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    report(f"2,000 idle streams: opened in {opened:.1f} s, {each / 1024:.1f} KiB each")
    report(f"an event among them: {latencies(receivers)[-1] * 1000:.0f} ms")
    assert each < 60 * 1024
