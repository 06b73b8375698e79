"""Results by task and index, for downloads: those that are asked for together are read by one statement.

What a process has read stays known for some seconds, while its file is there: a result never changes but that it is
deleted, which takes the file first. When retention ends is asked of the clock (`tasks/assets/links.py`).
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

from common import sql
from common.bounded_cache import BoundedCache
from common.concurrency import threads
from common.concurrency.gathering import Gathering
from storage import blobs
from tasks.assets.links import AssetRow

MOST_KNOWN = 10_000
KNOWN_SECONDS = 10.0
MOST_TOGETHER = 32

Place = tuple[str, int]
"""The id of a task, and the index of one of its results."""

STATEMENT = """
SELECT a.task_id, a.position, a.storage_key, a.content_type, a.size_bytes, a.sha256, a.created_at, a.deleted_at,
    t.key_id, t.account_id,
    EXISTS (SELECT 1 FROM tasks_asset o WHERE o.storage_key = a.storage_key AND o.id <> a.id) AS is_shared
FROM tasks_asset a JOIN tasks_task t ON t.id = a.task_id
WHERE t.status = 'succeeded' AND a.task_id IN ({tasks})
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(AssetRow):
    """A result of a succeeded task, and whose it is. `is_shared`: another row names the same file."""

    size_bytes: int
    sha256: str
    key_id: int
    account_id: int
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Known:
    """A result, and until when its row is not asked again."""

    result: Result
    until: float


_known: BoundedCache[Place, Known] = BoundedCache(MOST_KNOWN)


def known(place: Place) -> Result | None:
    """What this process has read some seconds ago, if the file is still there. Waits for nothing."""
    found = _known.get(place)
    if found is None or found.until < time.monotonic() or not blobs.is_at_hand(found.result.storage_key):
        return None
    return found.result


def remember(result: Result) -> None:
    """Its file has just been seen. One that two rows name outlives the deletion of either, so it is asked for anew."""
    if not result.is_shared:
        until = time.monotonic() + KNOWN_SECONDS
        _known.put((result.task_id, result.position), Known(result, until))


def forget() -> None:
    """As in a new process."""
    _known.clear()


def find(place: Place) -> "Future[Result | None]":
    """What the database says, read together with others."""
    share = threads.share.get()
    return _lookups.add(place, payer=share.payer, member=share.member)


def find_all(places: Sequence[Place]) -> list[Result | None]:
    """The results at these places, in one statement."""
    tasks = {task_id for task_id, _ in places}
    rows = sql.records(STATEMENT.format(tasks=sql.places(tasks)), [*tasks])
    found = {(row.task_id, row.position): _result(row) for row in rows}
    return [found.get(place) for place in places]


def _result(row: Any) -> Result:
    given = row._asdict()
    for name in ("created_at", "deleted_at"):
        given[name] = given[name] and sql.as_moment(given[name])
    return Result(**{**given, "is_shared": bool(given["is_shared"])})


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lookups")
_lookups: Gathering[Place, Result | None] = Gathering(
    partial(threads.returning_connection, find_all), start=_thread.submit, most=MOST_TOGETHER
)
