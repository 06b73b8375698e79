"""Threads in bounded number."""

import threading

import pytest

from tools.children import PATIENCE, wait_until
from worker.threads import ThreadPool


@pytest.fixture
def gate():
    event = threading.Event()
    yield event
    event.set()


def test_jobs_beyond_the_seats_wait_in_line_and_run_in_order(gate):
    seats, done = ThreadPool("test", 1), []
    seats.start(gate.wait)
    for number in range(3):
        seats.start(done.append, number)
    assert done == []
    gate.set()
    assert seats.wait_idle(PATIENCE)
    assert done == [0, 1, 2]


def test_free_seats_are_those_that_nobody_sits_on_or_waits_for(gate):
    seats = ThreadPool("test", 3)
    assert seats.free == 3
    for left in (2, 1, 0, 0):
        seats.start(gate.wait)
        assert seats.free == left
    assert not seats.wait_free(0.01)
    gate.set()
    assert seats.wait_free(PATIENCE)


def test_all_seats_are_waited_for(gate):
    seats = ThreadPool("test", 2)
    seats.start(gate.wait)
    assert seats.wait_free(0.0)
    assert not seats.wait_idle(0.01)
    gate.set()
    assert seats.wait_idle(PATIENCE)


def test_jobs_that_take_no_time_are_done_by_few_threads(monkeypatch):
    monkeypatch.setattr("worker.threads.PATIENCE_SECONDS", 1.0)  # a machine may stop for a moment
    seats, names = ThreadPool("quick", 100), set()
    seats.start(threading.Event().wait, 0.2)  # so that the others are in line before anybody comes for them
    for _ in range(1_000):
        seats.start(lambda: names.add(threading.get_ident()))
    assert seats.wait_idle(PATIENCE)
    assert len(names) < 5


def test_jobs_that_wait_sit_on_all_seats_at_once():
    seats, together = ThreadPool("test", 20), threading.Barrier(20)
    for _ in range(20):
        seats.start(together.wait, PATIENCE)
    assert seats.wait_idle(PATIENCE)
    assert not together.broken


def test_jobs_that_wait_sit_on_all_seats_also_after_some_that_took_no_time():
    seats, together = ThreadPool("test", 20), threading.Barrier(20)
    for _ in range(500):
        seats.start(int)
    for _ in range(20):
        seats.start(together.wait, PATIENCE)
    assert seats.wait_idle(PATIENCE)
    assert not together.broken


def test_a_failing_job_frees_its_seat(caplog):
    seats = ThreadPool("test", 1)
    seats.start(lambda: 1 // 0)
    assert seats.wait_free(PATIENCE)
    assert "swallowed in worker.job" in caplog.text


def test_what_waits_in_line_can_be_forgotten(gate):
    seats, done = ThreadPool("test", 1), []
    seats.start(gate.wait)
    seats.start(done.append, 1)
    seats.clear()
    gate.set()
    assert seats.wait_idle(PATIENCE)
    assert done == []


def test_an_idle_seat_has_no_thread():
    seats = ThreadPool("seldom", 5)
    for _ in range(20):
        seats.start(int)
    wait_until(lambda: not [thread for thread in threading.enumerate() if thread.name == "seldom"], what="their end")


def test_without_a_thread_the_job_waits_for_the_next(monkeypatch):
    seats, done = ThreadPool("test", 2), []
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", no_thread)
        seats.start(done.append, 1)
    seats.start(done.append, 2)
    assert seats.wait_idle(PATIENCE)
    assert done == [1, 2]


def no_thread(thread):
    raise RuntimeError("can't start new thread")
