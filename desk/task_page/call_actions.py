"""Buttons that settle a paid call of unknown outcome. Its task is retried on the task's own page."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse

from adapters.kit.jobs import LONGEST_ID
from common.documents import shown
from desk.kit.actions import ActionRefused, ReasonForm, RowAction
from desk.task_page.actions import NoteForm
from pages import words
from tasks.models import LIVE, Call, Task
from tasks.unknown import open_calls, resolve
from tasks.unknown.open_calls import Refused

LONGEST_NAMED_ID = LONGEST_ID + 100  # older Kling ids are prefixed by an endpoint name


class AttachForm(NoteForm):
    upstream_id = forms.CharField(max_length=LONGEST_NAMED_ID, label="The provider's id of the job")
    field_order = ("upstream_id", "reason")


class UnknownCallAction(RowAction):
    """Button of an unsettled call; afterwards it returns to the list."""

    right = "tasks.change_task"

    def applies(self, row: Call) -> bool:
        return row.state == "unknown" and not shown(row.outcome).get("resolved")

    def next_url(self, row: Call) -> str:
        return reverse("admin:tasks_call_unknown")


class AttachJob(UnknownCallAction):
    name, label = "attach", "Attach the job"
    form_class, needs_proof = AttachForm, True

    def applies(self, row: Call) -> bool:
        return super().applies(row) and is_over(row.task)

    def meaning(self, row: Call) -> str:
        return (
            "Use this if you found the job at the provider. A new task follows it: it holds "
            f"{words.usd(row.task.estimated_micros)}, and its result is charged to the client at the agreed price."
        )

    def apply(self, row: Call, values: Mapping[str, Any], *, by: str) -> str:
        try:
            new_id = resolve.attach(row.pk, values["upstream_id"], by=by)
        except Refused as refusal:
            raise ActionRefused(str(refusal)) from refusal
        return f"Attached the job: {new_id} follows it."


class WriteOff(UnknownCallAction):
    name, label = "lost", "Mark lost"
    form_class, is_danger = ReasonForm, True

    def meaning(self, row: Call) -> str:
        cost = open_calls.costs_at_stake([row])[row.pk]
        booked = "its cost, which the catalog does not have," if cost is None else words.usd(cost)
        return f"The call's result is discarded: {booked} is booked as your loss. The client is not charged."

    def apply(self, row: Call, values: Mapping[str, Any], *, by: str) -> str:
        try:
            resolve.mark_lost(row.pk, by=by)
        except Refused as refusal:
            raise ActionRefused(str(refusal)) from refusal
        return "Marked the call lost."


def is_over(task: Task) -> bool:
    """Check that the task ended without a result; only then can it be retried or given a job."""
    return task.status not in (*LIVE, "succeeded")


CALL_ACTIONS = (AttachJob(), WriteOff())
