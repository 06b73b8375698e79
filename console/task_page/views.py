"""Page of one task: result, request, cost and timeline; and sending its callback again."""

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from callbacks import deliveries
from common import ids
from common.errors import TaskNotFound
from console import access
from console.sessions import Visitor
from console.task_page import cost, sheet
from tasks.events import reader
from tasks.models import Task


@require_safe
@access.require_session
def task(request: HttpRequest, visitor: Visitor, task_id: str) -> HttpResponse:
    cursor = reader.settled()  # read before the rows, so that no event in between is missed
    found = sheet.gather(visitor.caller.key_id, task_id)
    is_near = found.callback is not None and found.callback.is_near
    shown = {
        "sheet": found,
        "task": found.task,
        "cursor": cursor,
        "is_live": found.is_live or is_near,
        "balance": cost.in_all(found.cost, visitor.caller.balance_micros),
    }
    return access.render_page(request, visitor, "console/task.html", shown)


@require_POST
@access.require_session
def send_again(request: HttpRequest, visitor: Visitor, task_id: str) -> HttpResponse:
    """Send the callback once more now; its schedule stays. Raises NotRedeliverable."""
    wanted = Task.objects.filter(pk=task_id, key_id=visitor.caller.key_id)
    if not ids.is_task_id(task_id) or not wanted.exists():
        raise TaskNotFound()
    delivery = deliveries.redeliver(task_id)
    if access.wants_json(request):
        return JsonResponse({"id": delivery.id, "status": delivery.status}, status=202)
    return HttpResponseRedirect(f"{reverse('console:task', args=[task_id])}#callback")
