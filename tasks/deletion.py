"""Deletes a task as far as a client can: a queued one is canceled, an ended one loses its files. The books stay."""

from common.errors import NotCancelable
from tasks import cancellation
from tasks.assets import retention


def delete(key_id: int, task_id: str) -> None:
    """Once more changes nothing. Raises TaskNotFound, NotCancelable for a running task, and StorageUnavailable where a
    file is still there."""
    try:
        cancellation.cancel(key_id, task_id)
    except NotCancelable:
        retention.delete_now(key_id, task_id)
