"""Page of running, queued and recently ended tasks; and cancelling of queued ones."""

from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from accounts.authentication import Caller
from console import access
from console.live import finding, words
from console.sessions import Visitor
from tasks import cancellation
from tasks.events import reader

WHILE_RUNNING, AT_REST = 3, 60  # seconds between two refreshes; progress has no events


@require_safe
@access.require_session
def live(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    cursor = reader.settled()  # read before the rows, so that no event in between is missed
    return access.render_page(request, visitor, "console/live.html", {"cursor": cursor, **_board(visitor.caller)})


def _board(caller: Caller) -> dict[str, Any]:
    running, queued = finding.counted(caller)
    rows = finding.rows(caller)
    at_work = [row for row in rows if row.task.status == "running"]
    shown = sum(row.task.finished_at is None for row in rows)
    return {
        "rows": rows,
        "live": running + queued,
        "hidden": max(running + queued - shown, 0),
        "sentence": words.sentence(running, queued, at_work),
        "counts": words.counts(running, queued),
        "every": WHILE_RUNNING if running else AT_REST,
    }


@require_POST
@access.require_session
def cancel(request: HttpRequest, visitor: Visitor, task_id: str) -> HttpResponse:
    """Cancel a queued task; a running one is refused with an explanation."""
    cancellation.cancel(visitor.caller.key_id, task_id)
    if access.wants_json(request):
        return JsonResponse({"id": task_id, "status": "canceled"})
    return HttpResponseRedirect(f"{reverse('console:live')}#{task_id}")
