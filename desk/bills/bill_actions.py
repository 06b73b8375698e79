"""Buttons of a bill: compare it again, remove it."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.urls import reverse

from desk.bills import columns as bill_columns
from desk.bills import imports
from desk.bills.imports import BillRefused, Period
from desk.kit.actions import ActionRefused, ReasonForm, RowAction
from desk.models import ProviderBill


class CompareAgain(RowAction):
    name, label, right = "compare", "Compare again", "desk.import_bills"
    form_class = forms.Form

    def applies(self, row: ProviderBill) -> bool:
        return bool(row.run)

    def meaning(self, row: ProviderBill) -> str:
        return (
            f"Compares the bill from {row.since} to {row.until} with our calls as they are now: jobs may have ended, "
            "and costs become known, since. Settled lines stay settled."
        )

    def apply(self, row: ProviderBill, values: Mapping[str, Any], *, by: str) -> str:
        if row.since is None or row.until is None:
            raise ActionRefused("Choose its columns first.")
        try:
            period = Period(first=row.since, last=row.until)
            imports.compare(row, bill_columns.stored(row.columns), period)
        except (BillRefused, ValueError) as refusal:
            raise ActionRefused(str(refusal)) from refusal
        return "Compared again."


class RemoveBill(RowAction):
    name, label, right = "remove", "Remove", "desk.import_bills"
    form_class = ReasonForm
    is_danger = is_atomic = True

    def applies(self, row: ProviderBill) -> bool:
        return not row.lines.exclude(settled="").exists()

    def meaning(self, row: ProviderBill) -> str:
        return (
            f"Removes the file {row.file_name} and all its lines; it can be imported again. Our calls and the ledger "
            "stay as they are."
        )

    def apply(self, row: ProviderBill, values: Mapping[str, Any], *, by: str) -> str:
        if not self.applies(row):
            raise ActionRefused("Its lines settled outcomes, so they are kept as evidence.")
        ProviderBill.objects.filter(pk=row.pk).delete()
        return f"Removed {row.file_name}."

    def next_url(self, row: ProviderBill) -> str:
        return reverse("admin:desk_providerbill_changelist")


BILL_ACTIONS = (CompareAgain(), RemoveBill())
