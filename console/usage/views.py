"""Usage: what the key spent and what is left, as a page and as a statement."""

from datetime import UTC, datetime, time, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_safe

from accounts.authentication import Caller
from accounts.models import ApiKey
from common import months
from common.months import Month
from console import doors
from console.sessions import Visitor
from console.usage import asked, entries, spend_chart, spending, standing, statement_csv
from console.usage.asked import Asked
from console.usage.entries import SpentEntry

MOST_LISTED = 20
MOST_MONTHS = 60
EVERY_SECONDS = 30
"""How often the page looks again what is spent and left: a sum over the month."""


@require_safe
@doors.signed_in
def usage(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    now, caller = timezone.now(), visitor.caller
    wanted, running = asked.read(request.GET.dict(), now), months.of(now)
    current = spending.read(caller, running)
    chosen = current if wanted.month == running else spending.read(caller, wanted.month)
    shown = _listed(caller, wanted, {model.name for model in chosen.models})
    context = {
        "asked": wanted,
        "running": running,
        "every": EVERY_SECONDS,
        "standing": standing.read(caller),
        "current": current,
        "spend": chosen,
        "today": now.date().isoformat(),
        "today_micros": current.on(now.date().isoformat()),
        "chart": spend_chart.of(chosen),
        "labels": spend_chart.labels(wanted.month),
        "entries": shown[:MOST_LISTED],
        "has_more": len(shown) > MOST_LISTED,
        **_neighbours(caller, wanted.month, now),
    }
    return doors.show(request, visitor, "console/usage.html", context)


def _listed(caller: Caller, wanted: Asked, models: set[str]) -> list[SpentEntry]:
    """The latest entries of what is asked for, and one more where there are more than are shown. `models` are those of
    the month."""
    if wanted.model and wanted.model not in models:
        return []
    start, end = wanted.month.start, wanted.month.end
    if wanted.day:
        start = datetime.combine(wanted.day, time(), UTC)
        end = start + timedelta(days=1)
    return entries.latest(
        caller, start, end, model=wanted.model, most=MOST_LISTED + 1, passed=(wanted.page - 1) * MOST_LISTED
    )


def _neighbours(caller: Caller, month: Month, now: datetime) -> dict[str, Any]:
    """The months since the key was made, and which of them come before and after this one."""
    created = ApiKey.objects.values_list("created_at", flat=True).get(pk=caller.key_id)
    listed = months.between(created, now, most=MOST_MONTHS)
    return {
        "months": sorted({*listed, month}, reverse=True),
        "earlier": month.later(-1) if month > listed[-1] else None,
        "later": month.later(1) if month < listed[0] else None,
    }


@require_safe
@doors.signed_in
def statement(request: HttpRequest, visitor: Visitor, month: str) -> StreamingHttpResponse:
    wanted = asked.month(month)
    lines = statement_csv.lines(visitor.caller, wanted)
    name = f"usage-{slugify(visitor.key_name) or visitor.caller.key_id}-{wanted}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
