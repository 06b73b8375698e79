"""Admin of paid calls: the page of unknown outcomes, and a filter of losses."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page
from django.db.models import QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from common.documents import shown
from common.redaction import clean
from desk.kit.actions import ActionPages, url_of
from desk.task_page.call_actions import CALL_ACTIONS, is_over
from pages.admin_pages import CappedPaginator, ReadOnlyAdmin, cost, moment, status
from tasks.admin import CallInline
from tasks.models import Call
from tasks.unknown import open_calls

PAGE = 50


class LossFilter(admin.SimpleListFilter):
    """Filter of calls that were paid but never charged; the list then shows their sum."""

    title, parameter_name = "operator's loss", "loss"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("all", "All"), ("late", "Results that came too late"), ("given_up", "Marked lost")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        if self.value() == "late":
            return queryset.filter(state="lost", outcome__kind="late")
        if self.value() == "given_up":
            return queryset.filter(state="lost", outcome__resolved="lost")
        return queryset.filter(state="lost") if self.value() == "all" else queryset


class MismatchFilter(admin.SimpleListFilter):
    """Filter of calls whose provider report differs from what we charged, by its own index."""

    title, parameter_name = "bill", "bill"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("differs", "Differs from the bill")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        return queryset.exclude(mismatch="") if self.value() else queryset


class CallAdmin(ActionPages, ReadOnlyAdmin):
    """Read-only admin of paid calls, with the page of unknown outcomes, whose buttons need the right to change
    tasks."""

    row_actions = CALL_ACTIONS

    list_display = (
        "id",
        "task_id",
        "attempt",
        "position",
        status("state"),
        "channel",
        cost("cost_micros"),
        "mismatch",
        moment("created_at"),
        moment("ended_at"),
    )
    list_filter = ("state", LossFilter, MismatchFilter)
    list_select_related = ("channel",)
    search_fields = ("task__id__exact",)
    search_help_text = "Task id."
    columns = (
        "task",
        *CallInline.columns,
        "channel",
        "credential",
        "worker",
        "request_digest",
        "faults",
        "copy_faults",
    )

    def get_urls(self) -> list[URLPattern]:
        view: Callable[..., Any] = self.admin_site.admin_view
        return [
            path("unknown/", view(self.unknown), name="tasks_call_unknown"),
            *super().get_urls(),
        ]

    def unknown(self, request: HttpRequest) -> HttpResponse:
        """List the open calls, the oldest first."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        calls = open_calls.open_calls().select_related("task__key__account", "channel", "credential")
        page = CappedPaginator(calls, PAGE).get_page(request.GET.get("p"))
        may_settle = request.user.has_perm("tasks.change_task")
        context = {"title": "Unknown outcomes", "page": page, "rows": rows(page), "may_settle": may_settle}
        return self.page(request, "admin/tasks/call/unknown.html", **context)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        answer: HttpResponse = super().changelist_view(request, extra_context)
        if isinstance(answer, TemplateResponse) and answer.context_data and "loss" in request.GET:
            found = answer.context_data.get("cl")
            if found is not None:
                sum_micros = found.queryset.order_by().aggregate(sum=Sum("cost_micros"))["sum"]
                answer.context_data["loss_micros"] = sum_micros or 0
        return answer


def rows(page: Page[Call]) -> list[dict[str, Any]]:
    """Build the rows of the list: known facts and buttons."""
    calls = list(page)
    costs = open_calls.costs_at_stake(calls)
    return [
        {
            "call": call,
            "task": call.task,
            "known": known(call),
            "stake_micros": costs[call.pk],
            "buttons": [(each.label, url_of(call, each.name)) for each in CALL_ACTIONS if each.applies(call)],
            "retry_url": url_of(call.task, "retry") if is_over(call.task) else "",
        }
        for call in calls
    ]


def known(call: Call) -> str:
    """Describe the known outcome of a call."""
    outcome = shown(call.outcome)
    status = f"HTTP {outcome['http_status']}" if outcome.get("http_status") else None
    parts = (str(outcome.get("kind") or "").replace("_", " "), status, outcome.get("code"), outcome.get("message"))
    return clean(" · ".join(str(part) for part in parts if part)) or "nothing"
