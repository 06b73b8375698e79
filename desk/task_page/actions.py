"""What an operator may do about a task: cancel it, submit it again, refund it, send its callback again."""

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
    """For what explains itself."""

    reason = forms.CharField(max_length=REASON_LENGTH, required=False, help_text="If you like. The history keeps it.")


class CountingForm(NoteForm):
    """Holds how often it was done when the form was made, so that sending it twice does it once."""

    done_before = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class RetryForm(ReasonForm):
    """Holds also what the page said that it will cost, so that nobody pays what nobody has seen."""

    done_before = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    price_micros = forms.IntegerField(min_value=0, required=False, widget=forms.HiddenInput)


class RefundForm(ReasonForm):
    amount = forms.CharField(label="Amount in USD", max_length=40)
    field_order = ("amount", "reason")

    def clean_amount(self) -> int:
        """In micro-USD."""
        try:
            return words.micros(self.cleaned_data["amount"])
        except ValueError as error:
            raise forms.ValidationError("Not an amount in USD.") from error


class CancelTask(RowAction):
    name, label, right = "cancel", "Cancel", "tasks.change_task"
    form_class, is_danger = NoteForm, True

    def applies(self, row: Task) -> bool:
        return row.status == "queued"

    def meaning(self, row: Task) -> str:
        return (
            f"The task leaves the queue and ends as canceled. The {words.usd(row.estimated_micros)} that it holds go "
            f"back to {row.key.account.name}, and its client hears of it as of a cancel of its own."
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
        before = f" It was submitted again before, as {last.pk}, which is {last.status}." if last else ""
        return f"{self._means(row)}{before}"

    def _means(self, row: Task) -> str:
        try:
            price = words.usd(again.quote(row.pk))
        except Refused as refusal:
            return f"It would be refused now: {refusal}"
        if resolve.is_without_outcome(row):
            return (
                f"A new task buys it again at the price that was agreed, {price}. If the provider did run the first "
                "one, you pay twice."
            )
        return (
            f"A new task asks for the same again, for {row.key.account.name} / {row.key.name}, on the routes of today. "
            f"The customer pays it at today's price, {price}. This one was submitted at "
            f"{words.usd(row.estimated_micros)}; the customer has paid {words.usd(row.actual_micros or 0)} for it, and "
            "it stays as it is."
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
                f"It was submitted again meanwhile, as {last.pk}. Load this page anew to do it once more."
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
            return f"{words.usd(before)} of it were refunded before. That can be done once."
        return (
            f"{row.key.account.name} was charged {words.usd(row.actual_micros or 0)} for this task. All of it or part "
            "of it goes back to the balance, once. Its client hears nothing, and the task stays as it ended."
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
    """Of a task or of its delivery."""

    name, label, right = "send", "Send the callback again", "callbacks.change_delivery"
    form_class = CountingForm

    def applies(self, row: Task | Delivery) -> bool:
        return isinstance(row, Delivery) or (row.callback_url is not None and row.status not in LIVE)

    def meaning(self, row: Task | Delivery) -> str:
        delivery = _delivery(row)
        if delivery is None:
            return "This task owes no callback."
        tries = words.counted(delivery.attempts, "attempt")
        return (
            f"One more attempt goes to {delivery.host} now, with the same delivery id, signed afresh. So far: {tries}, "
            f"{delivery.status}. Its schedule stays as it is."
        )

    def form(self, row: Task | Delivery, data: Any = None) -> forms.Form:
        delivery = _delivery(row)
        return CountingForm(data, initial={"done_before": delivery.attempts if delivery else 0})

    def apply(self, row: Task | Delivery, values: Mapping[str, Any], *, by: str) -> str:
        delivery = _delivery(row)
        if delivery and delivery.attempts > values["done_before"]:
            raise ActionRefused("It was sent meanwhile. Load this page anew to send it once more.")
        try:
            deliveries.redeliver(row.task_id if isinstance(row, Delivery) else row.pk)
        except NotRedeliverable as refusal:
            raise ActionRefused(refusal.message) from refusal
        return "The callback is sent again."


def _delivery(row: Task | Delivery) -> Delivery | None:
    return row if isinstance(row, Delivery) else Delivery.objects.filter(task=row.pk).first()


TASK_ACTIONS = (CancelTask(), RetryTask(), RefundTask(), SendCallback())
