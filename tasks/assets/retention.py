"""Deletes what has been kept long enough: bytes of assets, and the payloads of ended tasks with their Data URLs.

The bytes are deleted first and the row is marked then. A crash in between leaves a row whose bytes are gone, which the
next run deletes again without fault, and never bytes that no row knows. Tasks, costs and ledger are never touched.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import TypeVar

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from common import documents, ids
from common.errors import StorageUnavailable
from storage import blobs
from tasks.models import Asset, TaskPayload

ABANDONED_SECONDS = 86_400
LOOKED_AT = 10  # times the limit, so that files which the storage does not let go keep no later ones
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How many assets lost their bytes and how many tasks their payload."""

    assets: int
    payloads: int


def prune(limit: int) -> Pruned:
    """Delete at most `limit` of each, the oldest first. Raises StorageUnavailable where the storage does not let a file
    go, after all others; what was done stays marked."""
    faults: list[StorageUnavailable] = []
    pruned = Pruned(assets=_prune_assets(limit, faults), payloads=_prune_payloads(limit, faults))
    if faults:
        raise faults[0]
    return pruned


def due() -> Pruned:
    """How many there are to delete now."""
    return Pruned(assets=_old_assets().count(), payloads=_old_payloads().count())


def sweep() -> int:
    """Delete temporary files older than a day; returns how many. Raises StorageUnavailable."""
    return blobs.sweep(older_than_seconds=ABANDONED_SECONDS)


def _prune_assets(limit: int, faults: list[StorageUnavailable]) -> int:
    deleted: list[int] = []
    try:
        found = list(_old_assets().values_list("id", "storage_key")[: LOOKED_AT * limit])
        deleted += islice(_emptied(((asset_id, [key]) for asset_id, key in found), faults), limit)
    finally:
        Asset.objects.filter(id__in=deleted, deleted_at=None).update(deleted_at=Now())
    return len(deleted)


def _prune_payloads(limit: int, faults: list[StorageUnavailable]) -> int:
    emptied: list[str] = []
    try:
        found = list(_old_payloads().values_list("task_id", "params")[: LOOKED_AT * limit])
        emptied += islice(_emptied(((task_id, _blob_keys(params)) for task_id, params in found), faults), limit)
    finally:
        TaskPayload.objects.filter(task_id__in=emptied, pruned_at=None).update(params=None, pruned_at=Now())
    return len(emptied)


def _emptied(rows: Iterable[tuple[Row, Iterable[str]]], faults: list[StorageUnavailable]) -> Iterator[Row]:
    """Those of the rows whose files are gone now. A file that the storage does not let go keeps no later one. Raises
    StorageUnavailable where it is the storage that is away."""
    for row, keys in rows:
        try:
            for key in keys:
                blobs.delete(key)
        except StorageUnavailable as fault:
            faults.append(fault)
            blobs.check()
        else:
            yield row


def _old_assets() -> QuerySet[Asset]:
    if not settings.ASSET_RETENTION:
        return Asset.objects.none()
    limit = Now() - timedelta(seconds=settings.ASSET_RETENTION)
    return Asset.objects.filter(deleted_at=None, created_at__lt=limit).order_by("created_at")


def _old_payloads() -> QuerySet[TaskPayload]:
    if not settings.PAYLOAD_RETENTION:
        return TaskPayload.objects.none()
    kept = timedelta(seconds=settings.PAYLOAD_RETENTION)
    # Ids are ordered by time, so this border lets the primary key skip every younger task.
    border = ids.task_id_floor((timezone.now() - kept).timestamp())
    return TaskPayload.objects.filter(pruned_at=None, task_id__lt=border, task__finished_at__lt=Now() - kept).order_by(
        "task_id"
    )


def _blob_keys(params: object) -> Iterator[str]:
    """Data URLs of the request; never an asset that served as an input."""
    for image in documents.elements(documents.shown(params).get("images")):
        key = documents.shown(documents.shown(image).get("stored")).get("key")
        if isinstance(key, str) and key.startswith("inputs/"):
            yield key
