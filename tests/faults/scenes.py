"""What tests of real worker processes wait for and hold back."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import psycopg
from django.db import connection

from common import sql
from tasks.models import Task
from tests.databases import OF_THIS_DATABASE, database_url
from tests.tasks import steps
from tests.worker.driving import end_of
from tools.children import PATIENCE, Child, wait_until


def ended(*task_ids: str) -> list[str]:
    """How these tasks ended, once they have."""
    live = Task.objects.filter(id__in=task_ids, finished_at=None)
    wait_until(lambda: not live.exists(), what="the end")
    return [end_of(task_id) for task_id in task_ids]


@contextmanager
def held(table: str) -> Iterator[None]:
    """Keep every worker from writing to this table; on SQLite to any."""
    if connection.vendor == "postgresql":
        with psycopg.connect(database_url()) as other:
            other.execute(f"LOCK TABLE {table} IN EXCLUSIVE MODE")  # type: ignore[arg-type]
            yield
            other.rollback()
    else:
        other_file = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, timeout=PATIENCE)
        other_file.execute("BEGIN IMMEDIATE")
        yield
        other_file.execute("ROLLBACK")
        other_file.close()


def waiting_for_account() -> int:
    """How many transactions of workers wait for a row that `held_account` holds (PostgreSQL)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database() "
            "AND wait_event_type = 'Lock' AND query LIKE '%FROM accounts_account%'"
        )
        return int(cursor.fetchone()[0])


def kill(worker: Child) -> None:
    """SIGKILL; what its sessions on the server still wait to write is dropped with them, as when the machine dies."""
    worker.kill()
    if connection.vendor == "postgresql":
        end_sessions()


def serving(web: Child) -> psutil.Process:
    """The process that serves, of the one that was started."""
    (found,) = psutil.Process(web.process.pid).children()
    return found


def kill_serving(web: Child) -> None:
    """SIGKILL; its master starts another."""
    process = serving(web)
    process.kill()
    process.wait()


def let_lease_pass(worker: Child) -> None:
    """As if the worker, which does not run, had been silent for longer than its lease."""
    steps.silence(worker.wait_for_line(r"worker (\w{32}) starts")[1])


def end_sessions() -> None:
    """Cut all connections of workers to this PostgreSQL database."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE application_name = 'worker' AND datname = current_database()"
        )


def end_waiting_sessions() -> int:
    """Cut those that wait for a lock in this PostgreSQL database; how many they were."""
    waiting = "wait_event_type = 'Lock' AND datname = current_database()"
    return len(sql.fetch(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {waiting}"))


def waits_for(table: str) -> bool:
    """Whether somebody waits for what `held` holds; not known on SQLite."""
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        query = f"SELECT 1 FROM pg_locks WHERE NOT granted AND relation = %s::regclass AND {OF_THIS_DATABASE}"
        cursor.execute(query, [table])
        return cursor.fetchone() is not None


def at_work(application: str) -> int:
    """How many sessions of these processes are within a statement or a transaction (PostgreSQL)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity "
            "WHERE application_name = %s AND datname = current_database() AND state <> 'idle'",
            [application],
        )
        return int(cursor.fetchone()[0])
