"""Connections of PostgreSQL's pool: a dead one is handed to nobody, and statements are planned once."""

import threading

import psycopg
import pytest
from django.db import connection

from accounts.models import Group
from common import sql
from common.concurrency import threads
from common.database import database_retry
from common.postgresql import base
from tests.databases import database_url
from tests.tasks import steps
from tools.children import PATIENCE, wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is no server"),
]
OTHERS = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()"


def sessions_at_once(count: int) -> list[int]:
    """So many requests, each with a session of its own: the server's numbers of them."""
    barrier = threading.Barrier(count)

    def request() -> int:
        found = int(sql.value("SELECT pg_backend_pid()"))
        barrier.wait(PATIENCE)
        return found

    return steps.at_once([lambda: threads.returning_connection(request)] * count)


def test_sessions_that_the_server_has_ended_cost_nobody_an_error():
    connection.close()
    before = sessions_at_once(3)
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute(f"SELECT pg_terminate_backend(pid) {OTHERS}")
        wait_until(lambda: not other.execute(f"SELECT 1 {OTHERS}").fetchall(), what="the end of all sessions")
    assert not set(sessions_at_once(3)) & set(before)


def test_the_pool_does_not_sleep_on_when_the_server_is_back():
    """It sleeps twice as long after each try in vain, until it gives up and the next who asks has it try at once."""
    assert connection.pool.reconnect_timeout <= database_retry.LONGEST_WAIT_SECONDS


def test_a_server_that_goes_away_in_silence_is_noticed_by_the_system():
    assert connection.get_connection_params().items() >= base.KEEPALIVES.items()


def test_a_statement_that_comes_again_is_planned_once():
    for number in range(4):
        assert sql.value("SELECT %s + 41", [number]) == number + 41
    plans = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE %s"
    assert sql.value(plans, ["%+ 41"]) == 1


def test_no_statement_is_compiled():
    assert sql.value("SHOW jit") == "off"


def test_a_list_with_more_values_than_a_statement_has_parameters_is_written_in_parts():
    many = base.MOST_PARAMETERS // 3 + 1  # of three fields each
    Group.objects.bulk_create(Group(name=f"group-{number}", platform="openai") for number in range(many))
    assert Group.objects.count() == many
