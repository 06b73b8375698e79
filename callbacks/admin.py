"""Deliveries in the admin: to look at, and to send again."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import QuerySet
from django.http import HttpRequest

from callbacks import deliveries
from callbacks.models import Delivery, DeliveryAttempt
from common.admin_pages import ReadOnlyAdmin, ReadOnlyInline, masked, moment, status


class AttemptInline(ReadOnlyInline):
    model = DeliveryAttempt
    verbose_name_plural = "attempts"
    columns = ("number", moment("at"), "status_code", "error", "duration_ms", masked("excerpt"))


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    list_display = ("id", status(), "host", "attempts", moment("next_attempt_at"), moment("created_at"))
    list_filter = ("status",)
    search_fields = ("id__exact", "task__id__exact")
    search_help_text = "Delivery or task id."
    columns = ("task", masked("url"), *list_display, moment("delivered_at"), moment("claimed_at"))
    inlines = (AttemptInline,)
    actions = ("send_again",)  # type: ignore[assignment]

    @admin.action(description="Send again", permissions=["send"])
    def send_again(self, request: HttpRequest, chosen: QuerySet[Delivery]) -> None:
        """One more attempt now for each; schedules stay as they are."""
        count = deliveries.resend(list(chosen.values_list("task_id", flat=True)))
        LogEntry.objects.log_actions(request.user.pk, chosen, CHANGE, "Sent again.")  # type: ignore[arg-type]
        messages.success(request, f"{count} callback{'' if count == 1 else 's'} will be sent now.")

    def has_send_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("callbacks.change_delivery")
