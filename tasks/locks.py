"""The two locks of the task flow. The order everywhere: claims, tasks by id, holds, accounts by id."""

from collections.abc import Sequence

from common import sql

CLAIM_LOCK = 7_203_451_001


def serialise_claims() -> None:
    """One claim at a time, until the transaction ends. SQLite's IMMEDIATE transaction is the lock there."""
    if sql.is_postgresql():
        sql.fetch("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])


def lock_tasks(task_ids: Sequence[str]) -> None:
    """Lock these tasks in id order, so that two overlapping lists never deadlock (SQLite: IMMEDIATE is the lock)."""
    if sql.is_postgresql():
        sql.fetch(
            f"SELECT id FROM tasks_task WHERE id {sql.among('text')} ORDER BY id{sql.row_lock()}", [sql.ids(task_ids)]
        )
