"""Repeats a write until the database takes it: what a provider answered must not be lost. Of a write of many rows it
finds those that make it fail."""

import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
from django.db import InterfaceError, OperationalError, connection

from common import swallowed

Item = TypeVar("Item")
Result = TypeVar("Result")
logger = logging.getLogger(__name__)
AWAY = (OperationalError, InterfaceError)
HELD_UP = (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected)
LONGEST_WAIT_SECONDS = 5.0
PROGRAM_LIMIT = "54"  # the class of SQLSTATEs


def insist(step: Callable[..., Result], *arguments: Any, **options: Any) -> Result:
    """Call until the database takes it; only for steps that may be repeated after a commit whose answer was lost."""
    wait = 0.1
    while True:
        try:
            return step(*arguments, **options)
        except AWAY as error:
            if not is_passing(error):
                raise
            logger.warning("the database is away, trying again in %.1f s: %s", wait, error)
            reset_connections()
            time.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT_SECONDS)


def apart(
    step: Callable[[Sequence[Item]], Sequence[Result]],
    items: Sequence[Item],
    *,
    of_all: tuple[type[Exception], ...] = (),
) -> list[Result | Exception]:
    """Run the step with all items, and where that fails, with each half. The result of each item; the exception of one
    that fails alone. Exceptions in `of_all` are no item's fault, and are raised."""
    if not items:
        return []
    try:
        return list(step(items))
    except of_all:
        raise
    except Exception as error:
        if len(items) == 1:
            return [error]
        swallowed.note("common.database.apart")
    half = len(items) // 2
    return apart(step, items[:half], of_all=of_all) + apart(step, items[half:], of_all=of_all)


def is_passing(error: Exception) -> bool:
    """Whether the database may take the same statement later; SQLite calls a wrong statement operational, too, and
    PostgreSQL one that is larger than it ever takes."""
    too_large = str(getattr(error.__cause__, "sqlstate", None) or "").startswith(PROGRAM_LIMIT)
    return not too_large and getattr(error.__cause__, "sqlite_errorcode", None) != sqlite3.SQLITE_ERROR


def is_held_up(error: Exception) -> bool:
    """Whether one row of several was locked for too long, say, so that the others may be written without it."""
    return isinstance(error.__cause__, HELD_UP)


def reset_connections() -> None:
    """After a fault: close this thread's connection, and those of the pool that died with it, else each would cost the
    next thread that is handed one a fault of its own."""
    connection.close()
    pool = getattr(connection, "pool", None)
    if pool is not None:
        with suppress(psycopg.Error):
            pool.check()


def release_connection() -> None:
    """Hold no database connection during what follows. A thread that has had none gets none. Within a transaction
    nothing happens."""
    if connection.connection is not None and not connection.in_atomic_block:
        connection.close()
