"""What hangs on tasks in the admin, to look at only; and the service's switches. The pages of tasks and of their paid
calls, which have buttons, are the desk's (`desk/task_page/`)."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from pages.admin_pages import ReadOnlyAdmin, ReadOnlyInline, cost, masked, moment, status
from tasks.models import Asset, Call, ServiceState, TaskEvent, Worker


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
