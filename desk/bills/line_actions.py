"""The buttons of a bill's line: settle an outcome that nobody knows by what the provider bills, or does not bill."""

from collections.abc import Callable, Mapping
from typing import Any

from django import forms
from django.urls import reverse

from desk.bills import matching, settling
from desk.bills.forms import SettleForm
from desk.kit.actions import ActionRefused, RowAction
from desk.models import BillLine
from pages import words
from tasks.unknown.open_calls import Refused


class LineAction(RowAction):
    right = "tasks.change_task"

    def next_url(self, row: BillLine) -> str:
        return reverse("admin:desk_providerbill_change", args=[row.bill_id])

    def do(self, settle: Callable[..., Any], row: BillLine, call_id: int, *, by: str) -> Any:
        try:
            return settle(row, call_id, by=by)
        except Refused as refusal:
            raise ActionRefused(str(refusal)) from refusal


class OfProvider(LineAction):
    """Of a line that we know nothing of, where calls of unknown outcome are open."""

    def applies(self, row: BillLine) -> bool:
        return row.verdict == matching.PROVIDER_ONLY and not row.settled and bool(settling.candidates(row))

    def form(self, row: BillLine, data: Any = None) -> forms.Form:
        return SettleForm(settling.candidates(row), data)


class AttachLine(OfProvider):
    name, label, needs_proof = "attach", "Attach the job", True

    def meaning(self, row: BillLine) -> str:
        return (
            f"The provider bills {words.usd(row.amount_micros or 0)} for the job {row.upstream_id}. A new task follows "
            "it at the price that was agreed, and its result goes to the customer of the call that you choose, who is "
            "charged: be sure that it is his."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        new_id = self.do(settling.attach, row, values["call"], by=by)
        return f"{row.upstream_id} is followed by {new_id}."


class WriteOffLine(OfProvider):
    name, label = "write-off", "Write it off"
    is_danger = True

    def meaning(self, row: BillLine) -> str:
        return (
            f"The provider bills {words.usd(row.amount_micros or 0)} for the job {row.upstream_id}. The call that you "
            "choose is marked lost: nobody sees what it brought, the customer pays nothing, and its cost is your loss."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.write_off, row, values["call"], by=by)
        return f"Call {values['call']} is written off for {row.upstream_id}."


class OfOurs(LineAction):
    """Of a call of unknown outcome that the bill does not name."""

    def applies(self, row: BillLine) -> bool:
        return row.verdict == matching.OURS_ONLY and settling.is_open(row)


class NotRun(OfOurs):
    name, label = "not-run", "It was not run"

    def meaning(self, row: BillLine) -> str:
        return (
            "The bill does not name this call, so the provider has not run it. It leaves the list of unknown outcomes; "
            "nothing is booked, and the customer was never charged. Wait until the bill is complete: some name a job "
            "days later."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.not_run, row, row.call_id or 0, by=by)
        return f"Call {row.call_id} was not run."


class WriteOffCall(OfOurs):
    name, label = "lose", "Mark it lost"
    is_danger = True

    def meaning(self, row: BillLine) -> str:
        return (
            "Perhaps it was bought, and nobody will see what it brought. The customer pays nothing, and its cost is "
            "your loss."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.write_off, row, row.call_id or 0, by=by)
        return f"Call {row.call_id} is marked lost."


LINE_ACTIONS = (AttachLine(), WriteOffLine(), NotRun(), WriteOffCall())
