"""The cancel, by the client or an operator: a queued task ends as canceled; a running or ended one is refused, or goes
on."""

import logging
from contextlib import suppress

from django.db.models import QuerySet

from common.database.database_retry import AWAY, reset_connections
from common.errors import NotCancelable, TaskNotFound
from tasks import lifecycle
from tasks.lifecycle import Ending
from tasks.models import Task

logger = logging.getLogger(__name__)


def cancel(key_id: int, task_id: str) -> None:
    """Cancel one queued task of this key; canceling a canceled task again changes nothing.

    Raises TaskNotFound, or NotCancelable naming the status.
    """
    _cancel(Task.objects.filter(key_id=key_id, id=task_id), task_id)


def cancel_by_operator(task_id: str, *, by: str) -> None:
    """The same of any key's task."""
    _cancel(Task.objects.filter(id=task_id), task_id)
    logger.info("task %s: canceled by %s", task_id, by)


def _cancel(rows: QuerySet[Task], task_id: str) -> None:
    """A requeue between the two statements is tried again."""
    for _ in range(5):
        found = rows.values_list("status", "attempt").first()
        if found is None:
            raise TaskNotFound()
        status, attempt = found
        if status == "canceled":
            return
        if status != "queued":
            break
        ending = Ending.canceled(task_id, attempt)
        if lifecycle.end([ending]):
            return
    raise NotCancelable(f"The task is {status}; only a queued task can be canceled.")


def withdraw(key_id: int, task_id: str) -> None:
    """Cancel a task whose client has left, if it is still queued; else it goes on. Never raises for a database that is
    away: then it goes on, too."""
    try:
        with suppress(NotCancelable, TaskNotFound):
            cancel(key_id, task_id)
    except AWAY as error:
        logger.warning("task %s goes on, though its client has left: %s", task_id, error)
        reset_connections()
