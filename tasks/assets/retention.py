"""Deletes what has been kept long enough: bytes of assets, and the payloads of ended tasks with their Data URLs.

The bytes are deleted first and the row is marked then. A crash in between leaves a row whose bytes are gone, which the
next run deletes again without fault, and never bytes that no row knows. Tasks, costs and ledger are never touched.
`delete_now` does the same for the files of one task as soon as its owner says so. A file that a live task refers to as
its input stays until that has ended.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from common import ids
from common.database.database_retry import release_connection
from common.errors import AssetInUse, NotCancelable, StorageUnavailable, TaskNotFound
from storage import backends, blobs
from tasks.assets import referred, stored_inputs
from tasks.locks import lock_tasks
from tasks.models import LIVE, Asset, Task, TaskPayload

ABANDONED_SECONDS = 86_400
BATCH = 200
Row = TypeVar("Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How many assets lost their bytes and how many tasks their payload."""

    assets: int = 0
    payloads: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        return Pruned(assets=self.assets + other.assets, payloads=self.payloads + other.payloads)


def prune(batch: int = BATCH) -> Pruned:
    """Delete all that is due. Raises StorageUnavailable like `batches`."""
    return sum(batches(batch), Pruned())


def batches(batch: int = BATCH) -> Iterator[Pruned]:
    """Delete all that is due, the oldest first, and tell of each batch when it is marked.

    A file that the storage does not let go keeps no later one. Raises StorageUnavailable at the end where there was
    such a file, and at once where it is the storage that is away; what was done stays marked.
    """
    faults: list[StorageUnavailable] = []
    yield from _prune_assets(batch, faults)
    yield from _prune_payloads(batch, faults)
    if faults:
        raise faults[0]


def due() -> Pruned:
    """How many there are to delete now."""
    return Pruned(assets=_old_assets().count(), payloads=_old_payloads().count())


def delete_now(key_id: int, task_id: str) -> None:
    """Delete the files that an ended task of this key has made; where they are gone already, nothing changes.

    A file that the row of another task names, too, stays for that one. Raises TaskNotFound, NotCancelable naming the
    status of a live task, AssetInUse, and StorageUnavailable where a file is still there.
    """
    task = Task.objects.filter(key_id=key_id, id=task_id).values_list("status", "account_id").first()
    if task is None:
        raise TaskNotFound()
    status, account_id = task
    if status in LIVE:
        raise NotCancelable(f"The task is {status}; only the files of an ended task can be deleted.")
    same_file = Asset.objects.filter(storage_key=OuterRef("storage_key"), deleted_at=None)
    rows = Asset.objects.filter(task_id=task_id, deleted_at=None).values_list(
        "id", "storage_key", Exists(same_file.exclude(task_id=task_id))
    )
    if rows and referred.held([account_id]) & {key for _, key, _ in rows}:
        raise AssetInUse()
    faults: list[StorageUnavailable] = []
    _emptied([(asset_id, [] if is_shared else [key]) for asset_id, key, is_shared in rows], faults, _mark_assets)
    if faults:
        raise faults[0]


def sweep() -> int:
    """Delete temporary files older than a day; returns how many. Raises StorageUnavailable."""
    return blobs.sweep(older_than_seconds=ABANDONED_SECONDS)


def _prune_assets(batch: int, faults: list[StorageUnavailable]) -> Iterator[Pruned]:
    looked_at = Q()
    wanted = ("id", "storage_key", "task__account_id", "created_at")
    while found := list(_old_assets().filter(looked_at).values_list(*wanted)[:batch]):
        held = referred.held({account_id for _, _, account_id, _ in found})
        rows = ((asset_id, [key]) for asset_id, key, _, _ in found if key not in held)
        yield Pruned(assets=_emptied(rows, faults, _mark_assets))
        last_id, _, _, last_at = found[-1]
        looked_at = Q(created_at__gte=last_at) & (Q(created_at__gt=last_at) | Q(id__gt=last_id))


def _mark_assets(deleted: list[int]) -> None:
    Asset.objects.filter(id__in=deleted, deleted_at=None).update(deleted_at=Now())


def _prune_payloads(batch: int, faults: list[StorageUnavailable]) -> Iterator[Pruned]:
    last = ""
    names = ("images", "mask", "inputs")
    wanted = ("task_id", *(f"params__{name}" for name in names))
    while found := list(_old_payloads().filter(task_id__gt=last).values_list(*wanted)[:batch]):
        rows = ((each[0], stored_inputs.keys_of(dict(zip(names, each[1:], strict=True)))) for each in found)
        yield Pruned(payloads=_emptied(rows, faults, _mark_payloads))
        last = found[-1][0]


def _mark_payloads(emptied: list[str]) -> None:
    """Together: bytes whose payload is gone would count against their account for ever."""
    with transaction.atomic():
        lock_tasks(emptied)
        TaskPayload.objects.filter(task_id__in=emptied, pruned_at=None).update(params=None, pruned_at=Now())
        Task.objects.filter(id__in=emptied, input_bytes__gt=0).update(input_bytes=0)


def _emptied(
    rows: Iterable[tuple[Row, Iterable[str]]],
    faults: list[StorageUnavailable],
    mark: Callable[[list[Row]], None],
) -> int:
    """Delete the files of each row and mark those whose files are gone; returns how many. Raises StorageUnavailable
    where it is the storage that is away."""
    gone: list[Row] = []
    release_connection()
    try:
        for row, keys in rows:
            try:
                for key in keys:
                    blobs.delete(key)
            except StorageUnavailable as fault:
                faults.append(fault)
                backends.health().check()
            else:
                gone.append(row)
    finally:
        mark(gone)
    return len(gone)


def _old_assets() -> QuerySet[Asset]:
    if not settings.ASSET_RETENTION:
        return Asset.objects.none()
    limit = Now() - timedelta(seconds=settings.ASSET_RETENTION)
    return Asset.objects.filter(deleted_at=None, created_at__lt=limit).order_by("created_at", "id")


def _old_payloads() -> QuerySet[TaskPayload]:
    if not settings.PAYLOAD_RETENTION:
        return TaskPayload.objects.none()
    kept = timedelta(seconds=settings.PAYLOAD_RETENTION)
    # Ids are ordered by time, so this border lets the primary key skip every younger task.
    border = ids.task_id_floor((timezone.now() - kept).timestamp())
    return TaskPayload.objects.filter(pruned_at=None, task_id__lt=border, task__finished_at__lt=Now() - kept).order_by(
        "task_id"
    )
