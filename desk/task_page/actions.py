"""Buttons of a task's page: cancel it, submit it again, refund it, send its callback again."""

from collections.abc import Mapping
from typing import Any

from django import forms

from billing import refunds
from billing.refunds import RefundRefused
from callbacks import deliveries
from callbacks.models import Delivery
from common.errors import NotCancelable, NotRedeliverable, TaskNotFound
from desk.access.guarded_admin import REASON_LENGTH
from desk.kit.actions import ActionRefused, ReasonForm, RowAction, page_of
from pages import words
from tasks import again, cancellation
from tasks.models import LIVE, Task, TaskPayload
from tasks.unknown import resolve, resubmission
from tasks.unknown.open_calls import Refused


class NoteForm(forms.Form):
    """Form with an optional reason."""

    reason = forms.CharField(max_length=REASON_LENGTH, required=False, help_text="Optional. Recorded in the history.")


class CountingForm(NoteForm):
    """Form with the number of earlier runs, so that submitting it twice acts once."""

    done_before = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class RetryForm(ReasonForm):
    """Form with the price that the page showed, so that a changed price is not charged unseen."""

    done_before = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    price_micros = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)


class RefundForm(ReasonForm):
    amount = forms.CharField(label="Amount in USD", max_length=40)
    field_order = ("amount", "reason")

    def clean_amount(self) -> int:
        """Convert the amount to micro-USD."""
        try:
            return words.micros(self.cleaned_data["amount"])
        except ValueError as error:
            raise forms.ValidationError("Enter an amount in USD.") from error


class CancelTask(RowAction):
    name, label, right = "cancel", "Cancel", "tasks.change_task"
    form_class, is_danger = NoteForm, True

    def applies(self, row: Task) -> bool:
        return row.status == "queued"

    def meaning(self, row: Task) -> str:
        return (
            f"The task leaves the queue and ends as canceled. Its hold of {words.usd(row.estimated_micros)} goes back "
            f"to {row.key.account.name}, and its client is notified as if it had canceled the task itself."
        )

    def apply(self, row: Task, values: Mapping[str, Any], *, by: str) -> str:
        try:
            cancellation.cancel_by_operator(row.pk, by=by)
        except (NotCancelable, TaskNotFound) as refusal:
            raise ActionRefused(refusal.message) from refusal
        return "Canceled the task."


class RetryTask(RowAction):
    name, label, right = "retry", "Retry as a new task", "tasks.change_task"
    form_class, needs_proof = RetryForm, True

    def applies(self, row: Task) -> bool:
        if row.status in LIVE or resubmission.live_retry(row.pk):
            return False
        return TaskPayload.objects.filter(task=row.pk, params__isnull=False).exists()

    def meaning(self, row: Task) -> str:
        last = row.retries.order_by("-pk").first()
        before = f" It was already submitted again as {last.pk}, which is {last.status}." if last else ""
        return f"{self._means(row)}{before}"

    def _means(self, row: Task) -> str:
        try:
            price = words.usd(again.quote(row.pk))
        except Refused as refusal:
            return f"It would be refused now: {refusal}"
        if resolve.is_without_outcome(row):
            return (
                f"A new task buys it again at the agreed price, {price}. If the provider did run the first one, you "
                "pay twice."
            )
        return (
            f"A new task repeats the request for {row.key.account.name} / {row.key.name} on today's routes. The "
            f"customer pays today's price, {price}. This task was submitted at {words.usd(row.estimated_micros)} and "
            f"the customer has paid {words.usd(row.actual_micros or 0)} for it; it stays as it is."
        )

    def form(self, row: Task, data: Any = None) -> forms.Form:
        return RetryForm(data, initial={"done_before": row.retries.count(), "price_micros": self._price(row)})

    def _price(self, row: Task) -> int | None:
        try:
            return again.quote(row.pk)
        except Refused:
            return None

    def apply(self, row: Task, values: Mapping[str, Any], *, by: str) -> str:
        if row.retries.count() > values["done_before"]:
            last = row.retries.latest("pk")
            raise ActionRefused(
                f"It has been submitted again in the meantime, as {last.pk}. Reload this page to do it once more."
            )
        try:
            new_id = again.retry(row.pk, by=by, shown_micros=values["price_micros"])
        except Refused as refusal:
            raise ActionRefused(str(refusal)) from refusal
        return f"Submitted it again as {new_id}, at {words.usd(Task.objects.get(pk=new_id).estimated_micros)}."

    def next_url(self, row: Task) -> str:
        return page_of(row.retries.latest("pk"))


class RefundTask(RowAction):
    name, label, right = "refund", "Refund", "desk.refund_tasks"
    form_class, needs_proof, is_atomic = RefundForm, True, True

    def applies(self, row: Task) -> bool:
        return bool(row.actual_micros) and not refunds.of_task(row.pk)

    def meaning(self, row: Task) -> str:
        if before := refunds.of_task(row.pk):
            return f"{words.usd(before)} was already refunded. A task can be refunded once."
        return (
            f"{row.key.account.name} was charged {words.usd(row.actual_micros or 0)} for this task. All or part of "
            "it goes back to the balance, once. The client is not notified, and the task stays as it ended."
        )

    def form(self, row: Task, data: Any = None) -> forms.Form:
        return RefundForm(data, initial={"amount": words.usd(row.actual_micros or 0).removeprefix("$")})

    def apply(self, row: Task, values: Mapping[str, Any], *, by: str) -> str:
        try:
            refunds.refund(row.pk, values["amount"], reason=values["reason"], by=by)
        except RefundRefused as refusal:
            raise ActionRefused(str(refusal)) from refusal
        return f"Refunded {words.usd(values['amount'])}."


class SendCallback(RowAction):
    """Button of a task or its delivery that sends the callback again."""

    name, label, right = "send", "Send the callback again", "callbacks.change_delivery"
    form_class = CountingForm

    def applies(self, row: Task | Delivery) -> bool:
        return isinstance(row, Delivery) or (row.callback_url is not None and row.status not in LIVE)

    def meaning(self, row: Task | Delivery) -> str:
        delivery = _delivery(row)
        if delivery is None:
            return "This task has no callback to send."
        tries = words.counted(delivery.attempts, "attempt")
        return (
            f"One more attempt goes to {delivery.host} now, with the same delivery id, with a new signature. So far: "
            f"{tries}, {delivery.status}. The schedule stays as it is."
        )

    def form(self, row: Task | Delivery, data: Any = None) -> forms.Form:
        delivery = _delivery(row)
        return CountingForm(data, initial={"done_before": delivery.attempts if delivery else 0})

    def apply(self, row: Task | Delivery, values: Mapping[str, Any], *, by: str) -> str:
        delivery = _delivery(row)
        if delivery and delivery.attempts > values["done_before"]:
            raise ActionRefused("It has been sent in the meantime. Reload this page to send it once more.")
        try:
            deliveries.redeliver(row.task_id if isinstance(row, Delivery) else row.pk)
        except NotRedeliverable as refusal:
            raise ActionRefused(refusal.message) from refusal
        return "Sent the callback again."


def _delivery(row: Task | Delivery) -> Delivery | None:
    return row if isinstance(row, Delivery) else Delivery.objects.filter(task=row.pk).first()


TASK_ACTIONS = (CancelTask(), RetryTask(), RefundTask(), SendCallback())
