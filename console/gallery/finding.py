"""Search for the results of a key's tasks whose files still exist, by cursor, newest first."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone

from common import ids, sql
from console.gallery.gallery_query import GalleryQuery
from tasks.models import Asset
from tasks.origins import LISTED

MOST_TASKS, MOST_FILES = 40, 60
SCANNED = 20_000
LONGEST_PROMPT = 400
CLOCK_SLACK = timedelta(hours=1)  # ids carry the web process's clock, files the database's


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """Task with its existing files. `prompt` is empty if it was deleted; a long one is truncated (`is_cut`)."""

    task_id: str
    model_name: str
    created_at: datetime
    actual_micros: int
    prompt: str
    is_cut: bool
    files: tuple[Asset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryPage:
    """Page of the gallery; `older` is the task id before which the next page begins, None at the end."""

    works: tuple[Work, ...]
    older: str | None


SCAN_END = "SELECT t.id FROM tasks_task t WHERE {within} ORDER BY t.id DESC LIMIT 1 OFFSET %s"
# The inner list stops once the page is full; `tasks/shown/listing.py` uses the same index.
FOUND = """
SELECT t.id, t.model_name, t.created_at, t.actual_micros, substr({prompt}, 1, %s) AS prompt
FROM tasks_task t LEFT JOIN tasks_taskpayload p ON p.task_id = t.id
WHERE t.id IN (
    SELECT t.id FROM tasks_task t
    WHERE {within} AND t.id >= COALESCE(({scan_end}), '') AND {passing}
        AND EXISTS (SELECT 1 FROM tasks_asset a WHERE a.task_id = t.id AND {is_there})
    ORDER BY t.id DESC LIMIT %s
)
ORDER BY t.id DESC
"""


def page(key_id: int, shelf: GalleryQuery) -> GalleryPage:
    """Find a page in two statements, three if it is not full.

    A page scans at most SCANNED tasks, so with a rare filter it may be short although the gallery continues.
    """
    within, of_key = _within(key_id, shelf)
    passing, chosen = _passing(shelf)
    since = _kept_since()
    scan_end = SCAN_END.format(within=within)
    statement = FOUND.format(
        prompt=sql.json_text("p.params", "prompt"),
        within=within,
        scan_end=scan_end,
        passing=passing,
        is_there="a.deleted_at IS NULL" + (" AND a.created_at > %s" if since else ""),
    )
    kept = [sql.moment(since)] if since else []
    scanned = [*of_key, SCANNED - 1]
    rows = sql.records(statement, [LONGEST_PROMPT + 1, *of_key, *scanned, *chosen, *kept, MOST_TASKS + 1])
    works = tuple(_fitting(rows[:MOST_TASKS], since))
    if len(rows) > len(works):
        return GalleryPage(works=works, older=works[-1].task_id)
    ends = sql.column(scan_end, scanned)
    return GalleryPage(works=works, older=min([*ends, *(work.task_id for work in works)]) if ends else None)


def _within(key_id: int, shelf: GalleryQuery) -> tuple[str, list[object]]:
    """Build the conditions that the index by key and id covers."""
    conditions: list[tuple[str, object]] = [("t.key_id = %s", key_id)]
    if shelf.before:
        conditions.append(("t.id < %s", shelf.before))
    if since := _kept_since():
        # A file can be made until its task's last deadline.
        oldest = since - timedelta(seconds=sum(settings.TASK_DEADLINES.values())) - CLOCK_SLACK
        conditions.append(("t.id > %s", ids.task_id_floor(oldest.timestamp())))
    return " AND ".join(condition for condition, _ in conditions), [value for _, value in conditions]


def _passing(shelf: GalleryQuery) -> tuple[str, list[object]]:
    wanted = {"t.modality = %s": shelf.modality, "t.model_name = %s": shelf.model}
    given = {condition: value for condition, value in wanted.items() if value}
    fixed = f"t.status = 'succeeded' AND t.origin IN ({sql.words(LISTED)})"
    return " AND ".join([fixed, *given]), list(given.values())


def _kept_since() -> datetime | None:
    """Compute the time before which files are deleted; None if they are kept forever."""
    retention: int = settings.ASSET_RETENTION
    return timezone.now() - timedelta(seconds=retention) if retention else None


def _fitting(rows: Sequence[Any], since: datetime | None) -> Iterable[Work]:
    """Yield as many tasks as the limit on files allows, at least one."""
    files = Asset.objects.filter(task_id__in=[row.id for row in rows], deleted_at=None).order_by("position")
    by_task: dict[str, list[Asset]] = {row.id: [] for row in rows}
    for file in files.filter(created_at__gt=since) if since else files:
        by_task[file.task_id].append(file)
    room = MOST_FILES
    for row in rows:
        room -= len(by_task[row.id])
        if room < 0 and row is not rows[0]:
            return
        yield _work(row, by_task[row.id])


def _work(row: Any, files: Sequence[Asset]) -> Work:
    prompt = row.prompt or ""
    return Work(
        task_id=row.id,
        model_name=row.model_name,
        created_at=sql.as_moment(row.created_at),
        actual_micros=row.actual_micros,
        prompt=prompt[:LONGEST_PROMPT],
        is_cut=len(prompt) > LONGEST_PROMPT,
        files=tuple(files),
    )
