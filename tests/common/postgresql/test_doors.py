"""The doors into the pool: so many at once, in the order in which they came, and each kind by itself."""

import threading

import psycopg
import pytest
from django.db import OperationalError, connection

from common import sql
from common.postgresql import doors
from common.postgresql.doors import Door
from tests.threads import joined
from tests.worker.driving import beside
from tools.children import PATIENCE, wait_until


def test_who_has_waited_longest_is_let_in_next():
    door, came = Door(1), []
    door.enter()
    threads = []
    for number in range(5):
        threads.append(beside(lambda number=number: (door.enter(), came.append(number), door.leave())))
        wait_until(lambda number=number: len(door._waiting) == number + 1, what="its place in the line")
    assert came == []
    door.leave()
    joined(*threads)
    assert came == [0, 1, 2, 3, 4]


@pytest.fixture
def crowded(monkeypatch):
    """One of the crowd may have a connection, and one of the lanes."""
    found = {"crowd": Door(1), "lanes": Door(1)}
    monkeypatch.setattr(doors, "built", found)
    return found


on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no pool")


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_a_lane_does_not_wait_behind_the_crowd(crowded):
    connection.close()
    has_one, is_over = threading.Event(), threading.Event()

    def crowd():
        sql.value("SELECT 1")
        has_one.set()
        assert is_over.wait(PATIENCE)

    def lane():
        doors.kind.set("lanes")
        sql.value("SELECT 1")

    holder = beside(crowd)
    assert has_one.wait(PATIENCE)
    waiter = beside(lambda: sql.value("SELECT 1"))
    wait_until(lambda: crowded["crowd"]._waiting, what="the next of the crowd")
    joined(beside(lane))
    is_over.set()
    joined(holder, waiter)


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_of_those_that_claim_one_has_a_connection_of_the_lanes(monkeypatch):
    made = {"claims": Door(1), "lanes": Door(2)}
    monkeypatch.setattr(doors, "built", made)
    is_over = threading.Event()

    def claim():
        doors.kind.set("claims")
        sql.value("SELECT 1")
        assert is_over.wait(PATIENCE)

    def lane():
        doors.kind.set("lanes")
        sql.value("SELECT 1")

    claiming = [beside(claim), beside(claim)]
    wait_until(lambda: made["claims"]._waiting, what="the other claim")
    joined(beside(lane))
    is_over.set()
    joined(*claiming)
    assert (made["claims"]._free, made["lanes"]._free) == (1, 2)


@on_postgresql
@pytest.mark.django_db(transaction=True)
def test_who_gets_no_connection_leaves_the_door_all_the_same(crowded, monkeypatch):
    connection.close()
    with monkeypatch.context() as patch:
        patch.setattr("psycopg_pool.ConnectionPool.getconn", lambda _: psycopg.Connection.connect("port=1 host=/"))
        with pytest.raises(OperationalError):
            sql.value("SELECT 1")
    assert sql.value("SELECT 1") == 1
