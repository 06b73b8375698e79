"""Counts of swallowed errors, added up in the database for all processes: `/metrics` reads them there."""

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import suppress

from common import sql, swallowed
from common.database.database_retry import AWAY, release_connection, reset_connections

logger = logging.getLogger(__name__)

FLUSH_SECONDS = 5.0
ADD = """
INSERT INTO tasks_swallowederrors ("where", count) SELECT r.place, r.count FROM {added} WHERE true ORDER BY r.place
ON CONFLICT ("where") DO UPDATE SET count = tasks_swallowederrors.count + excluded.count
"""
_has_failed = threading.Event()


def flush() -> None:
    """Store what this process has counted since the last call. Never raises: where the database does not take the
    counts, the process keeps them for the next call, and the log says so once until it does. Counts whose commit was
    lost on its way back are stored twice."""
    counts = swallowed.taken()
    if not counts:
        return
    try:
        add(counts)
        _has_failed.clear()
    except Exception as error:
        swallowed.put_back(counts)
        if not _has_failed.is_set():
            _has_failed.set()
            logger.warning("counts of swallowed errors wait for the database: %s", error)
        if isinstance(error, AWAY):
            with suppress(Exception):
                reset_connections()


def add(counts: Mapping[str, int]) -> None:
    """Add to the rows of these places, in one statement."""
    found = ({"place": place[: swallowed.LONGEST], "count": count} for place, count in counts.items())
    sql.run(ADD.format(added=sql.rows("place text, count bigint")), [sql.pack(found)])


def totals() -> dict[str, int]:
    """The counts of all processes, by place; 0 where nothing was swallowed yet."""
    return dict.fromkeys(swallowed.PLACES, 0) | dict(sql.fetch('SELECT "where", count FROM tasks_swallowederrors'))


def start() -> None:
    """Flush every few seconds from a thread of its own: for processes that have no heartbeat."""
    threading.Thread(target=_run, name="swallowed", daemon=True).start()


def _run() -> None:
    while True:
        time.sleep(FLUSH_SECONDS)
        flush()
        with suppress(*AWAY):
            release_connection()
