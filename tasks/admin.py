"""Tasks and what hangs on them in the admin, to look at only; and the service's switches.

The admin of calls is in `tasks/unknown/admin.py`.
"""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.safestring import SafeString

from billing.admin import money
from callbacks.models import Delivery
from common import modalities
from common.admin_pages import ReadOnlyAdmin, ReadOnlyInline, cost, document, masked, moment, status
from tasks.models import Asset, Call, ServiceState, Task, TaskEvent, TaskPayload, Worker
from tasks.shown import trace, trace_table


class ModalityFilter(admin.SimpleListFilter):
    """Without asking a table of millions which modalities it holds."""

    title = parameter_name = "modality"

    def lookups(self, request: HttpRequest, model_admin: Any) -> Sequence[tuple[str, str]]:
        return [(name, name) for name in modalities.NAMES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Task]) -> QuerySet[Task]:
        return queryset.filter(modality=self.value()) if self.value() else queryset


class EventInline(ReadOnlyInline):
    model = TaskEvent
    columns = (status(), "attempt", moment("at"))


class CallInline(ReadOnlyInline):
    model = Call
    columns = (
        "attempt",
        "position",
        status("state"),
        masked("target"),
        masked("handle"),
        masked("result"),
        masked("outcome"),
        "mismatch",
        cost("cost_micros"),
        moment("created_at"),
        moment("answered_at"),
        moment("ended_at"),
        moment("next_poll_at"),
    )


class AssetInline(ReadOnlyInline):
    model = Asset
    columns = (
        "position",
        "kind",
        "content_type",
        "size_bytes",
        "width",
        "height",
        "duration_seconds",
        moment("created_at"),
        moment("deleted_at"),
    )


class DeliveryInline(ReadOnlyInline):
    model = Delivery
    columns = (status(), "host", "attempts", moment("next_attempt_at"))


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        status(),
        "modality",
        "model_name",
        "caller",
        cost("estimated_micros"),
        cost("actual_micros"),
        moment("created_at"),
        moment("started_at"),
        moment("finished_at"),
    )
    list_filter = ("status", ModalityFilter)
    list_select_related = ("key__account",)
    search_fields = ("id__exact",)
    search_help_text = "Task id."
    inlines = (EventInline, CallInline, AssetInline, DeliveryInline)
    columns = (
        *list_display,
        "key",
        "secret",
        "origin",
        "attempt",
        "requeues",
        "channel",
        "worker",
        moment("deadline_at"),
        moment("not_before"),
        "progress",
        "retry_of",
        "idempotency_key",
        masked("callback_url"),
        masked("metadata"),
        masked("price"),
        masked("error"),
        "params",
        "trace",
        "result",
        "money",
    )

    @admin.display(description="account / key")
    def caller(self, task: Task) -> str:
        return f"{task.key.account.name} / {task.key.name}"

    def params(self, task: Task) -> str:
        return _payload(task, "params")

    @admin.display(description="routes and calls")
    def trace(self, task: Task) -> SafeString:
        return trace_table.tables(trace.of(task))

    def result(self, task: Task) -> str:
        return _payload(task, "result")

    @admin.display(description="hold and ledger")
    def money(self, task: Task) -> SafeString:
        return money(task.id)


def _payload(task: Task, part: str) -> str:
    payload = TaskPayload.objects.filter(task=task).only(part).first()
    return document(getattr(payload, part, None))


@admin.register(TaskEvent)
class TaskEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "task_id", status(), "attempt", moment("at"))
    list_filter = ("status",)
    search_fields = ("task__id__exact",)
    search_help_text = "Task id."
    columns = ("task", "key", *EventInline.columns)


@admin.register(Asset)
class AssetAdmin(ReadOnlyAdmin):
    list_display = ("id", "task_id", *AssetInline.columns)
    search_fields = ("task__id__exact",)
    search_help_text = "Task id."
    columns = ("task", *AssetInline.columns, "storage_key", "sha256")


@admin.register(Worker)
class WorkerAdmin(ReadOnlyAdmin):
    list_display = ("id", "host", "pid", "lanes", moment("started_at"), moment("heartbeat_at"), moment("stopped_at"))
    ordering = ("-started_at",)
    columns = list_display


class ServiceStateForm(forms.ModelForm):  # type: ignore[type-arg]
    retry_after_seconds = forms.IntegerField(min_value=1, max_value=86_400)


@admin.register(ServiceState)
class ServiceStateAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    list_display = ("__str__", "paused", "message", "retry_after_seconds", "api_disabled", "max_running")
    form = ServiceStateForm
    fields = ("paused", "message", "retry_after_seconds", "api_disabled", "max_running")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
