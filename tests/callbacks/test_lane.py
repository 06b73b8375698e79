"""The callbacks lane against real receivers, good and bad."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from callbacks import claims, sender
from callbacks.dealing import HOST_SEATS, KEPT_FOR_RECEIVERS, RECEIVER_SEATS
from callbacks.models import Delivery, DeliveryAttempt
from common.concurrency import wakeups
from tests.adapters.raw_server import raw_server
from tests.callbacks import behaviours, steps
from tools.children import PATIENCE, wait_until
from worker.callbacks import SAFETY_SECONDS, SEATS, Callbacks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A receiver that hangs does so until the test lets it go, and a slow machine fails no attempt."""
    monkeypatch.setitem(sender.deliver.__kwdefaults__, "limits", steps.PATIENT)


@contextmanager
def running() -> Iterator[Callbacks]:
    """A lane that works as in a worker until the block ends."""
    stopping = threading.Event()
    callbacks = Callbacks(stopping, steps.LOOPBACK)
    with wakeups.post.listening({"callbacks": callbacks.lane.wake}):
        callbacks.lane.start()
        try:
            yield callbacks
        finally:
            stopping.set()
            callbacks.lane.wake()
            callbacks.lane.join(PATIENCE)
            callbacks.finish(PATIENCE)


def deliveries_named(requests: list[bytes]) -> list[str]:
    return [
        line.split(b": ")[1].decode() for request in requests for line in request.split(b"\r\n") if b"-id: " in line
    ]


def test_bad_receivers_never_delay_good_ones(owed):
    """The bad are owed first and more than they may hold; three kinds hang until all good ones have theirs."""
    over = threading.Event()
    with ExitStack() as stack:
        good = [stack.enter_context(raw_server(behaviours.OK)) for _ in range(3)]
        bad = [stack.enter_context(raw_server(behaviour)) for behaviour in behaviours.bad(over, good[0].url)]
        hanging = [owed(f"{server.url}/bad") for _ in range(RECEIVER_SEATS + 2) for server in bad[:3]]
        for server in bad[3:] * 2:
            owed(f"{server.url}/bad")
        wanted = [owed(f"{server.url}/good") for _ in range(RECEIVER_SEATS + 1) for server in good]
        stack.enter_context(running())
        stack.callback(over.set)
        wait_until(lambda: Delivery.objects.filter(task_id__in=wanted, status="delivered").count() == len(wanted))
        wait_until(lambda: [len(server.requests) for server in bad[:3]] == [RECEIVER_SEATS] * 3)
        assert {steps.state(task_id) for task_id in hanging} == {("pending", 0)}
        assert {steps.state(task_id) for task_id in wanted} == {("delivered", 1)}
    assert not any(b"/bad" in request.split(b"\r\n")[0] for server in good for request in server.requests)


def test_the_ports_of_one_account_leave_another_account_its_seats(owed, other_key):
    """More receivers hang, each with more due than it may hold, than a worker has seats for."""
    over = threading.Event()
    with ExitStack() as stack:
        good = stack.enter_context(raw_server(behaviours.OK))
        hanging = [stack.enter_context(raw_server(behaviours.hang(over))) for _ in range(SEATS // RECEIVER_SEATS + 1)]
        for server in hanging * RECEIVER_SEATS:
            owed(server.url)
        stack.enter_context(running())
        stack.callback(over.set)
        wait_until(lambda: sum(len(server.requests) for server in hanging) >= HOST_SEATS - KEPT_FOR_RECEIVERS)
        wanted = owed(good.url, of=other_key)
        wait_until(lambda: steps.state(wanted) == ("delivered", 1))
        assert sum(len(server.requests) for server in hanging) <= HOST_SEATS


def test_attempts_follow_the_schedule_under_one_id_and_touch_nothing_else(owed, settings):
    settings.CALLBACK_SCHEDULE = (0, 0, 3_600)
    with raw_server(behaviours.FAULT) as server:
        task_id = owed(server.url)
        before = steps.delivery(task_id).task
        with running():
            wait_until(lambda: steps.state(task_id) == ("pending", 2))
            last = DeliveryAttempt.objects.get(delivery__task_id=task_id, number=2)
            assert steps.delivery(task_id).next_attempt_at >= last.at + timedelta(seconds=0.8 * 3_600)
            steps.let_pass(task_id, 2 * 3_600)
            wait_until(lambda: steps.state(task_id) == ("exhausted", 3))
        assert deliveries_named(server.requests) == [f"{task_id}.1"] * 3
    after = steps.delivery(task_id).task
    assert (after.status, after.actual_micros, after.finished_at) == (
        before.status,
        before.actual_micros,
        before.finished_at,
    )


def test_a_receiver_that_recovers_gets_its_delivery(owed, settings):
    settings.CALLBACK_SCHEDULE = (0, 0, 0)
    with raw_server(behaviours.reset, behaviours.GONE, behaviours.OK) as server, running():
        task_id = owed(server.url)
        wait_until(lambda: steps.state(task_id) == ("delivered", 3))


def test_an_idle_lane_asks_once_and_sleeps_until_a_delivery_is_due(owed):
    lane = Callbacks(threading.Event(), steps.LOOPBACK)
    with CaptureQueriesContext(connection) as queries:
        assert lane.step() == SAFETY_SECONDS
    assert len(queries) == 1
    task_id = owed("https://receiver.example/hook")
    steps.let_pass(task_id, -2)
    assert 0 < lane.step() <= 2


def test_what_was_claimed_before_a_stop_is_given_back_unsent(owed):
    stopping = threading.Event()
    with raw_server(behaviours.OK) as server:
        owed(server.url)
        lane = Callbacks(stopping, steps.LOOPBACK)
        stopping.set()
        lane.step()
        lane.finish(PATIENCE)
        assert server.requests == []
    assert steps.claimed_one().number == 1


def test_a_stop_does_not_wait_for_a_receiver_that_hangs(owed):
    over, stopping = threading.Event(), threading.Event()
    with raw_server(behaviours.hang(over)) as server:
        task_id = owed(server.url)
        lane = Callbacks(stopping, steps.LOOPBACK)
        lane.step()
        wait_until(lambda: server.requests)
        stopping.set()
        lane.finish(0.1)
        assert steps.state(task_id) == ("pending", 0)
        over.set()
        lane.finish(PATIENCE)


def test_an_acknowledgement_that_was_not_recorded_is_followed_by_another_delivery(owed):
    with raw_server(behaviours.OK) as server:
        task_id = owed(server.url)
        steps.sent(steps.claimed_one())
        steps.let_pass(task_id, claims.LEASE_SECONDS + 1)
        with running():
            wait_until(lambda: steps.state(task_id) == ("delivered", 1))
        assert deliveries_named(server.requests) == [f"{task_id}.1"] * 2


def test_a_dead_host_holds_no_more_than_its_seats(owed):
    over = threading.Event()
    with raw_server(behaviours.hang(over)) as server:
        for _ in range(RECEIVER_SEATS * 2):
            owed(server.url)
        lane = Callbacks(threading.Event(), steps.LOOPBACK)
        for _ in range(3):
            lane.step()
        wait_until(lambda: len(server.requests) == RECEIVER_SEATS)
        lane.step()
        assert Delivery.objects.filter(claimed_at__isnull=False).count() == RECEIVER_SEATS
        over.set()
        lane.finish(PATIENCE)
