"""The client's cancel: a queued task ends as canceled; a running or ended one is refused."""

from common.errors import NotCancelable, TaskNotFound
from tasks import lifecycle
from tasks.lifecycle import Ending
from tasks.models import Task


def cancel(key_id: int, task_id: str) -> None:
    """Cancel one queued task of this key; canceling a canceled task again changes nothing.

    Raises TaskNotFound, or NotCancelable naming the status. A requeue between the two statements is tried again.
    """
    for _ in range(5):
        found = Task.objects.filter(key_id=key_id, id=task_id).values_list("status", "attempt").first()
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
