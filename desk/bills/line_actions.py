"""Buttons of a bill's line: settle an unknown outcome by what the provider bills, or does not bill."""

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


class ProviderLineAction(LineAction):
    """Action on a line without a call of ours, while calls of unknown outcome are open."""

    def applies(self, row: BillLine) -> bool:
        return row.verdict == matching.PROVIDER_ONLY and not row.settled and bool(settling.candidates(row))

    def form(self, row: BillLine, data: Any = None) -> forms.Form:
        return SettleForm(settling.candidates(row), data)


class AttachLine(ProviderLineAction):
    name, label, needs_proof = "attach", "Attach the job", True

    def meaning(self, row: BillLine) -> str:
        return (
            f"The provider bills {words.usd(row.amount_micros or 0)} for the job {row.upstream_id}. A new task follows "
            "it at the agreed price. Its result goes to the customer of the call that you choose, who is charged: make "
            "sure that the job belongs to that customer."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        new_id = self.do(settling.attach, row, values["call"], by=by)
        return f"{row.upstream_id} is followed by {new_id}."


class WriteOffLine(ProviderLineAction):
    name, label = "write-off", "Write it off"
    is_danger = True

    def meaning(self, row: BillLine) -> str:
        return (
            f"The provider bills {words.usd(row.amount_micros or 0)} for the job {row.upstream_id}. The call that you "
            "choose is marked lost: its result is discarded, the customer pays nothing, and its cost is your loss."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.write_off, row, values["call"], by=by)
        return f"Call {values['call']} is written off for {row.upstream_id}."


class OurCallAction(LineAction):
    """Action on a call of unknown outcome that the bill does not list."""

    def applies(self, row: BillLine) -> bool:
        return row.verdict == matching.OURS_ONLY and settling.is_open(row)


class NotRun(OurCallAction):
    name, label = "not-run", "Mark as not run"

    def meaning(self, row: BillLine) -> str:
        return (
            "The bill does not list this call, so the provider did not run it. It leaves the list of unknown outcomes; "
            "nothing is booked, and the customer was never charged. Wait until the bill is complete: some providers "
            "list a job days later."
        )

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.not_run, row, row.call_id or 0, by=by)
        return f"Call {row.call_id} was not run."


class WriteOffCall(OurCallAction):
    name, label = "lose", "Mark it lost"
    is_danger = True

    def meaning(self, row: BillLine) -> str:
        return "It may have been bought, but its result is discarded: the customer pays nothing, its cost is your loss."

    def apply(self, row: BillLine, values: Mapping[str, Any], *, by: str) -> str:
        self.do(settling.write_off, row, row.call_id or 0, by=by)
        return f"Call {row.call_id} is marked lost."


LINE_ACTIONS = (AttachLine(), WriteOffLine(), NotRun(), WriteOffCall())
