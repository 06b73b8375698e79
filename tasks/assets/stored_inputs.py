"""The files of Data URLs that tasks store: found in params, and deleted as soon as nobody needs them.

`tasks_task.input_bytes` counts them against the account from the submission on. It turns to 0 when the task is charged:
then its payload's retention keeps the files. A task that ends without a charge loses them at once; where a process dies
before that, the janitor finds the task by its bytes. Only an outcome that nobody knows keeps them, for a retry.
"""

import logging
from collections.abc import Iterable, Iterator, Sequence

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.fields.json import KT

from adapters.base import StoredFile
from common import documents
from common.database_retry import AWAY, reset_connections
from common.errors import StorageUnavailable
from storage import blobs
from tasks.locks import lock_tasks
from tasks.models import Call, Task

logger = logging.getLogger(__name__)

AT_ONCE = 20  # tasks that whoever ends them waits for; the janitor takes the rest
BATCH = 200


def keys_of(params: object) -> Iterator[str]:
    """Storage keys of the Data URLs in stored params; never an asset that served as an input."""
    for image in documents.elements(documents.shown(params).get("images")):
        key = documents.shown(documents.shown(image).get("stored")).get("key")
        if isinstance(key, str) and key.startswith("inputs/"):
            yield key


def discard(files: Iterable[StoredFile]) -> None:
    """Delete files of no task. Never raises for a faulty storage, so that the client learns what was refused."""
    for file in files:
        _are_gone([file.key])


def let_go(task_ids: Sequence[str]) -> None:
    """Delete the inputs of those of these tasks that need them no more. Never raises: their end is committed, and the
    janitor tries again."""
    try:
        _let_go(_due().filter(id__in=task_ids[:AT_ONCE]))
    except StorageUnavailable as fault:
        logger.warning("inputs of ended tasks are deleted later: %s", fault)
    except AWAY as error:
        logger.warning("inputs of ended tasks are deleted later: %s", error)
        reset_connections()


def batches() -> Iterator[int]:
    """Delete the inputs of all tasks that need them no more, and tell of how many at each batch. A file that the
    storage does not let go keeps no later one. Raises StorageUnavailable where the storage is away."""
    last = ""
    while found := list(_due().filter(id__gt=last).order_by("id")[:BATCH]):
        yield _let_go(found)
        last = found[-1].pk


def due() -> int:
    """How many tasks there are whose inputs are to be deleted now."""
    return _due().count()


def _let_go(tasks: Iterable[Task]) -> int:
    gone: list[str] = []
    try:
        for task in tasks:
            if _are_gone(keys_of(task.payload.params)):
                gone.append(task.pk)
            else:
                blobs.check()
    finally:
        _mark(gone)
    return len(gone)


def _are_gone(keys: Iterable[str]) -> bool:
    try:
        for key in keys:
            blobs.delete(key)
    except StorageUnavailable:
        logger.warning("input %s could not be deleted", key)
        return False
    return True


def _mark(gone: Sequence[str]) -> None:
    if gone:
        with transaction.atomic():
            lock_tasks(gone)
            Task.objects.filter(id__in=gone).update(input_bytes=0)


def _due() -> QuerySet[Task]:
    """Ended without a charge, their files still there, and no paid call whose outcome may have to be bought again."""
    ended = Task.objects.filter(input_bytes__gt=0, finished_at__isnull=False)
    return ended.filter(~Exists(_unknown())).select_related("payload").only("id", "payload__params")


def _unknown() -> QuerySet[Call]:
    """Of the task: without an outcome that anybody knows, unless a retry has succeeded; or still without an answer."""
    calls = Call.objects.filter(task=OuterRef("pk")).annotate(retry=KT("outcome__task"))
    bought_again = Task.objects.filter(id=OuterRef("retry"), status="succeeded")
    no_answer = Q(state__in=("intent", "late"), handle__isnull=True, result__isnull=True)
    return calls.filter((Q(state="unknown") & ~Exists(bought_again)) | no_answer)
