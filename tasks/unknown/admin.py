"""Paid calls in the admin: the page of those whose outcome nobody knows, and the filter of what was paid for nothing.

The desk registers it, since it stands on far more than the admin of tasks does.
"""

from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Page
from django.db.models import QuerySet, Sum
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path

from common.admin_pages import CappedPaginator, ReadOnlyAdmin, cost, document, dollars, moment, status
from tasks.admin import CallInline
from tasks.models import LIVE, Call, Task
from tasks.unknown import open_calls, resolve
from tasks.unknown.open_calls import Refused

PAGE = 50


class LossFilter(admin.SimpleListFilter):
    """What was paid and never charged; the list then shows its sum."""

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
    """What the provider reports and what was billed, an index of its own."""

    title, parameter_name = "bill", "bill"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [("differs", "Differs from the bill")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Call]) -> QuerySet[Call]:
        return queryset.exclude(mismatch="") if self.value() else queryset


class ConfirmForm(forms.Form):
    """Nothing to fill in: sending it is the confirmation."""

    def apply(self, call: Call, *, by: str) -> str | None:
        """Do it; returns the new task's id. Raises Refused."""
        raise NotImplementedError


class RetryForm(ConfirmForm):
    def apply(self, call: Call, *, by: str) -> str | None:
        return resolve.retry(call.task_id, by=by)


class AttachForm(ConfirmForm):
    upstream_id = forms.CharField(max_length=200, label="The provider's id of the job")

    def apply(self, call: Call, *, by: str) -> str | None:
        return resolve.attach(call.pk, self.cleaned_data["upstream_id"], by=by)


class LostForm(ConfirmForm):
    def apply(self, call: Call, *, by: str) -> str | None:
        resolve.mark_lost(call.pk, by=by)
        return None


ACTIONS: dict[str, tuple[type[ConfirmForm], str, str]] = {
    "attach": (
        AttachForm,
        "Attach the job",
        "The job exists at the provider. A new task follows it; its result is charged to the client.",
    ),
    "retry": (
        RetryForm,
        "Retry the task",
        "A new task buys it again at the price that was agreed. If the provider did run the first one, you pay twice.",
    ),
    "lost": (
        LostForm,
        "Mark the call lost",
        "Nobody will see what it brought. Its cost is booked as your loss; the client is not charged.",
    ),
}


class CallAdmin(ReadOnlyAdmin):
    """Paid calls to look at; and the page of unknown outcomes, whose actions need the permission to change tasks."""

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
            path("<int:call_id>/resolve/<str:action>/", view(self.resolve), name="tasks_call_resolve"),
            *super().get_urls(),
        ]

    def unknown(self, request: HttpRequest) -> HttpResponse:
        """The open list, the oldest first."""
        self._refuse_strangers(request)
        calls = open_calls.open_calls().select_related("task__key__account", "channel", "credential")
        page = CappedPaginator(calls, PAGE).get_page(request.GET.get("p"))
        context = {"title": "Unknown outcomes", "page": page, "rows": rows(page)}
        return self._shown(request, "admin/tasks/call/unknown.html", context)

    def resolve(self, request: HttpRequest, call_id: int, action: str) -> HttpResponse:
        """Ask for a confirmation, then do it."""
        self._refuse_strangers(request)
        call = Call.objects.select_related("task", "channel").filter(pk=call_id).first()
        if call is None or action not in ACTIONS:
            raise Http404
        kind, title, meaning = ACTIONS[action]
        form = kind(request.POST if request.method == "POST" else None)
        if request.method == "POST" and self._applied(request, call, form, title):
            return redirect("admin:tasks_call_unknown")
        context = {"title": title, "meaning": meaning, "form": form, "call": call, "original": call}
        context["known"] = document(call.outcome)
        return self._shown(request, "admin/tasks/call/resolve.html", context)

    def _applied(self, request: HttpRequest, call: Call, form: ConfirmForm, title: str) -> bool:
        if not form.is_valid():
            return False
        try:
            new_id = form.apply(call, by=request.user.get_username())
        except Refused as refusal:
            form.add_error(None, str(refusal))
            return False
        message = f"{title}: {new_id}" if new_id else title
        self.log_change(request, call, message)
        messages.success(request, f"{message}.")
        return True

    def _refuse_strangers(self, request: HttpRequest) -> None:
        if not request.user.has_perm("tasks.change_task"):
            raise PermissionDenied

    def _shown(self, request: HttpRequest, template: str, context: dict[str, Any]) -> TemplateResponse:
        return TemplateResponse(
            request, template, self.admin_site.each_context(request) | {"opts": self.opts} | context
        )

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        answer = super().changelist_view(request, extra_context)
        if isinstance(answer, TemplateResponse) and answer.context_data and "loss" in request.GET:
            found = answer.context_data.get("cl")
            if found is not None:
                sum_micros = found.queryset.order_by().aggregate(sum=Sum("cost_micros"))["sum"]
                answer.context_data["loss"] = dollars(sum_micros or 0)
        return answer


def rows(page: Page[Call]) -> list[dict[str, Any]]:
    """What is known of each call. A task that lives, or has succeeded without the call, is neither retried nor given
    the job."""
    calls = list(page)
    costs = open_calls.costs_at_stake(calls)
    return [
        {
            "call": call,
            "task": call.task,
            "known": document(call.outcome),
            "stake": "–" if (cost := costs[call.pk]) is None else dollars(cost),
            "is_over": is_over(call.task),
        }
        for call in calls
    ]


def is_over(task: Task) -> bool:
    return task.status not in (*LIVE, "succeeded")
