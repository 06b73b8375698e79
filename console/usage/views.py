"""Page of a key's spending and balance, and its statement."""

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
from console import access
from console.sessions import Visitor
from console.usage import balance, entries, spend_chart, spending, statement_csv, usage_query
from console.usage.entries import SpentEntry
from console.usage.usage_query import UsageQuery

MOST_LISTED = 20
MOST_MONTHS = 60
EVERY_SECONDS = 30
"""Interval at which the page refreshes its sums over the month."""


@require_safe
@access.require_session
def usage(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    now, caller = timezone.now(), visitor.caller
    wanted, running = usage_query.read(request.GET.dict(), now), months.of(now)
    current = spending.read(caller, running)
    chosen = current if wanted.month == running else spending.read(caller, wanted.month)
    shown = _listed(caller, wanted, {model.name for model in chosen.models})
    context = {
        "asked": wanted,
        "running": running,
        "every": EVERY_SECONDS,
        "balance": balance.read(caller),
        "current": current,
        "spend": chosen,
        "today": now.date().isoformat(),
        "today_micros": current.on(now.date().isoformat()),
        "chart": spend_chart.draw(chosen),
        "labels": spend_chart.labels(wanted.month),
        "entries": shown[:MOST_LISTED],
        "has_more": len(shown) > MOST_LISTED,
        **_neighbours(caller, wanted.month, now),
    }
    return access.render_page(request, visitor, "console/usage.html", context)


def _listed(caller: Caller, wanted: UsageQuery, models: set[str]) -> list[SpentEntry]:
    """Read the requested entries, and one more if there are more than are shown. `models` are those of the month."""
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
    """List the months since the key was created, and the ones before and after this month."""
    created = ApiKey.objects.values_list("created_at", flat=True).get(pk=caller.key_id)
    listed = months.between(created, now, most=MOST_MONTHS)
    return {
        "months": sorted({*listed, month}, reverse=True),
        "earlier": month.later(-1) if month > listed[-1] else None,
        "later": month.later(1) if month < listed[0] else None,
    }


@require_safe
@access.require_session
def statement(request: HttpRequest, visitor: Visitor, month: str) -> StreamingHttpResponse:
    wanted = usage_query.month(month)
    lines = statement_csv.lines(visitor.caller, wanted)
    name = f"usage-{slugify(visitor.key_name) or visitor.caller.key_id}-{wanted}.csv"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)
