"""Compares answers and database after every run, and checks the books; any difference fails the run."""

import sqlite3
import time
from dataclasses import dataclass
from typing import Any

import psycopg

from bench.model import Incorrect
from bench.service import BenchService

COUNTS = """
SELECT (SELECT count(*) FROM tasks_task), (SELECT count(*) FROM billing_hold),
       (SELECT count(*) FROM tasks_taskpayload),
       (SELECT count(*) FROM tasks_taskevent WHERE status = 'queued' AND attempt = 0)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Numbers of rows of which each task has one."""

    tasks: int
    holds: int
    payloads: int
    queued_events: int


def fetch(url: str, statement: str) -> list[tuple[Any, ...]]:
    """Returns the rows of a statement, on either database."""
    if url.startswith("postgres"):
        with psycopg.connect(url) as connection:
            return connection.execute(statement.encode()).fetchall()
    with sqlite3.connect(url.removeprefix("sqlite:///"), timeout=60) as file:
        return file.execute(statement).fetchall()


def counts(url: str) -> Counts:
    ((tasks, holds, payloads, events),) = fetch(url, COUNTS)
    return Counts(tasks=tasks, holds=holds, payloads=payloads, queued_events=events)


def settle(service: BenchService) -> None:
    """Waits until no more tasks arrive: after the load generator has stopped, the last requests may still be
    running."""
    last = -1
    while (now := counts(service.database_url).tasks) != last:
        last = now
        time.sleep(0.25 if service.database_url.startswith("postgres") else 0.5)  # a SQLite writer waits its turn


def check(service: BenchService, *, before: Counts, answered: int, refused: int, in_flight: int) -> None:
    """Raises Incorrect on any difference. A load generator that stops leaves at most `in_flight` requests without a
    known answer."""
    after = counts(service.database_url)
    if refused:
        raise Incorrect(f"{refused} answers were not 2xx")
    if len({after.tasks, after.holds, after.payloads, after.queued_events}) != 1:
        raise Incorrect(f"tasks, holds, payloads and events differ: {after}")
    made = after.tasks - before.tasks
    if not answered <= made <= answered + in_flight:
        raise Incorrect(f"{answered} submissions were answered, {made} tasks exist")
    check_ledger(service)


def check_ledger(service: BenchService) -> None:
    """Raises Incorrect if the ledger check finds a fault."""
    answer = service.manage("check_ledger", check=False)
    if answer.returncode:
        raise Incorrect(f"check_ledger: {answer.stdout.strip()[:300]}")
