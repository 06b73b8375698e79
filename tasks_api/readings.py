"""What the front has read for a view of a single task, so that requests that come together share a statement."""

from dataclasses import dataclass

from rest_framework.request import Request

from tasks.shown import representation
from tasks.shown.representation import TaskView

FOUND = "darkroom.task"  # its name in WSGI's environ


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of looking for this key's task: it, None, or what the view has to raise."""

    key_id: int
    task_id: str
    outcome: TaskView | Exception | None


def of(request: Request, key_id: int, task_id: str) -> TaskView | None:
    """As `representation.find_one`."""
    given: Found | None = request.META.get(FOUND)
    if given is None or (given.key_id, given.task_id) != (key_id, task_id):
        return representation.find_one(key_id, task_id)
    if isinstance(given.outcome, Exception):
        raise given.outcome
    return given.outcome
