"""The two locks of the task flow. The order everywhere: claims, tasks by id, accounts by id, holds."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from common import sql

CLAIM_LOCK = 7_203_451_001


def serialise_claims() -> None:
    """One claim at a time, until the transaction ends. SQLite's IMMEDIATE transaction is the lock there."""
    if sql.is_postgresql():
        sql.fetch("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])


def lock_tasks(task_ids: Sequence[str]) -> None:
    """Lock these tasks in id order, so that two overlapping lists never deadlock (SQLite: IMMEDIATE is the lock)."""
    if sql.is_postgresql():
        read_locked(task_ids, "id")


def read_locked(task_ids: Sequence[str], columns: str) -> list[Any]:
    """Lock these tasks in id order, and return these columns of their rows as they then are."""
    return sql.records(_statement(columns), [sql.values(task_ids)])


@cache
def _statement(columns: str) -> str:
    return f"SELECT {columns} FROM tasks_task WHERE id {sql.listed('text')} ORDER BY id{sql.row_lock()}"
