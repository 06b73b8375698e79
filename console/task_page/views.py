"""One task: a page of the console."""

from django.http import HttpRequest, HttpResponse

from common import ids
from common.errors import TaskNotFound
from console import doors
from console.sessions import Visitor
from tasks.shown import representation


@doors.signed_in
def task(request: HttpRequest, visitor: Visitor, task_id: str) -> HttpResponse:
    wanted = [(visitor.caller.key_id, task_id)] if ids.is_task_id(task_id) else []
    found = next(iter(representation.find_all(wanted)), None)
    if found is None:
        raise TaskNotFound()
    return doors.show(request, visitor, "console/task.html", {"task": found})
