"""The files of Data URLs that tasks store: found in params, and deleted as soon as nobody needs them. Large options,
which may hold Data URLs themselves, are an input as well.

`tasks_task.input_bytes` counts them against the account from the submission on. It turns to 0 when the task is charged:
then its payload's retention keeps the files. A task that ends without a charge loses them at once; where a process dies
before that, the janitor finds the task by its bytes. Only an outcome that nobody knows keeps them, for a retry.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT

from adapters.base import StoredFile, TaskRequest
from common import documents
from common.database.database_retry import AWAY, release_connection, reset_connections
from common.errors import StorageUnavailable
from storage import backends, blobs
from tasks.locks import lock_tasks
from tasks.models import Call, Task, TaskPayload

logger = logging.getLogger(__name__)

AT_ONCE = 20  # tasks that whoever ends them waits for; the janitor takes the rest
BATCH = 200
OPTIONS = ("extra_body", "provider_options")
LARGE_BYTES = 64 * 1024  # smaller options stay with the other params


def keys_of(params: object) -> Iterator[str]:
    """Storage keys of the Data URLs in stored params; never an asset that served as an input."""
    for _, file in files_of(params):
        key = file.get("key")
        if isinstance(key, str) and key.startswith("inputs/"):
            yield key


def files_of(params: object) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The stored files in stored params, by the fields in which they were sent."""
    found = documents.shown(params)
    for name, field in (("images", "image_url"), ("inputs", "url")):
        for index, element in enumerate(documents.elements(found.get(name))):
            yield f"params.{name}[{index}].{field}", documents.shown(documents.shown(element).get("stored"))
    yield "mask", documents.shown(documents.shown(found.get("mask")).get("stored"))


def bytes_of_options(request: TaskRequest) -> int:
    """Of a request's options as they are stored; 0 where they are not large."""
    return _large(getattr(request, name) for name in OPTIONS)


def _large(options: Iterable[Any]) -> int:
    size = sum(len(json.dumps(given)) for given in options if given)
    return size if size > LARGE_BYTES else 0


def discard(files: Iterable[StoredFile]) -> None:
    """Delete files of no task. Never raises for a faulty storage, so that the client learns what was refused."""
    for file in files:
        _are_gone([file.key])


def let_go(task_ids: Sequence[str]) -> None:
    """Delete the inputs of those of these tasks that need them no more. Never raises: their end is committed, and the
    janitor tries again."""
    try:
        _let_go(_due().filter(id__in=task_ids[:AT_ONCE]).values_list("id", flat=True))
    except StorageUnavailable as fault:
        logger.warning("inputs of ended tasks are deleted later: %s", fault)
    except AWAY as error:
        logger.warning("inputs of ended tasks are deleted later: %s", error)
        reset_connections()


def batches() -> Iterator[int]:
    """Delete the inputs of all tasks that need them no more, and tell of how many at each batch. A file that the
    storage does not let go keeps no later one. Raises StorageUnavailable where the storage is away."""
    last = ""
    while found := list(_due().filter(id__gt=last).order_by("id").values_list("id", flat=True)[:BATCH]):
        yield _let_go(found)
        last = found[-1]


def due() -> int:
    """How many tasks there are whose inputs are to be deleted now."""
    return _due().count()


def _let_go(task_ids: Iterable[str]) -> int:
    """One by one: params may have megabytes."""
    gone: dict[str, Mapping[str, Any] | None] = {}
    try:
        for task_id in task_ids:
            params = TaskPayload.objects.values_list("params", flat=True).filter(task_id=task_id).first()
            if _are_gone(keys_of(params)):
                gone[task_id] = _without_large_options(documents.shown(params))
            else:
                backends.health().check()
    finally:
        _mark(gone)
    return len(gone)


def _without_large_options(params: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The other params; None where the options may stay."""
    if not _large(params.get(name) for name in OPTIONS):
        return None
    return {name: value for name, value in params.items() if name not in OPTIONS}


def _are_gone(keys: Iterable[str]) -> bool:
    release_connection()
    try:
        for key in keys:
            blobs.delete(key)
    except StorageUnavailable:
        logger.warning("input %s could not be deleted", key)
        return False
    return True


def _mark(gone: Mapping[str, Mapping[str, Any] | None]) -> None:
    """The files of these tasks are gone; what is given are the params that stay, None for all."""
    if not gone:
        return
    with transaction.atomic():
        lock_tasks(list(gone))
        for task_id, params in gone.items():
            if params is not None:
                TaskPayload.objects.filter(task_id=task_id, pruned_at=None).update(params=params)
        Task.objects.filter(id__in=list(gone)).update(input_bytes=0)


def _due() -> QuerySet[Task]:
    """Ended without a charge, their files still there, and no paid call whose outcome may have to be bought again."""
    ended = Task.objects.filter(input_bytes__gt=0, finished_at__isnull=False)
    return ended.filter(~Exists(_unknown()))


def _unknown() -> QuerySet[Call]:
    """Of the task: without an outcome that anybody knows, unless a retry has succeeded; or still without an answer."""
    calls = Call.objects.filter(task=OuterRef("pk")).annotate(retry=KT("outcome__task"))
    bought_again = Task.objects.filter(id=OuterRef("retry"), status="succeeded")
    no_answer = Q(state__in=("intent", "late"), handle__isnull=True, result__isnull=True)
    return calls.filter((Q(state="unknown") & ~Exists(bought_again)) | no_answer)
