"""Deletes what has been kept long enough: bytes of assets, and the payloads of ended tasks with their Data URLs.

The bytes are deleted first and the row is marked then. A crash in between leaves a row whose bytes are gone, which the
next run deletes again without fault, and never bytes that no row knows. Tasks, costs and ledger are never touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from common import ids
from storage import blobs
from tasks.models import Asset, TaskPayload

ABANDONED_SECONDS = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How many assets lost their bytes and how many tasks their payload."""

    assets: int
    payloads: int


def prune(limit: int) -> Pruned:
    """Delete at most `limit` of each, the oldest first. Raises StorageUnavailable; what was done stays marked."""
    return Pruned(assets=_prune_assets(limit), payloads=_prune_payloads(limit))


def due() -> Pruned:
    """How many there are to delete now."""
    return Pruned(assets=_old_assets().count(), payloads=_old_payloads().count())


def sweep() -> int:
    """Delete temporary files older than a day; returns how many. Raises StorageUnavailable."""
    return blobs.sweep(older_than_seconds=ABANDONED_SECONDS)


def _prune_assets(limit: int) -> int:
    deleted: list[int] = []
    try:
        for asset_id, key in _old_assets().values_list("id", "storage_key")[:limit]:
            blobs.delete(key)
            deleted.append(asset_id)
    finally:
        Asset.objects.filter(id__in=deleted, deleted_at=None).update(deleted_at=Now())
    return len(deleted)


def _prune_payloads(limit: int) -> int:
    emptied: list[str] = []
    try:
        for task_id, params in _old_payloads().values_list("task_id", "params")[:limit]:
            for key in _blob_keys(params):
                blobs.delete(key)
            emptied.append(task_id)
    finally:
        TaskPayload.objects.filter(task_id__in=emptied, pruned_at=None).update(params=None, pruned_at=Now())
    return len(emptied)


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


def _blob_keys(params: dict[str, Any] | None) -> Iterator[str]:
    """Data URLs of the request; never an asset that served as an input."""
    for image in (params or {}).get("images") or []:
        key = (image.get("stored") or {}).get("key", "")
        if key.startswith("inputs/"):
            yield key
