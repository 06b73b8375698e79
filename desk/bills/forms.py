"""Forms of bills: file, columns and period, and the call that a line settles."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django import forms

from catalog.models import Channel
from desk.access.guarded_admin import REASON_LENGTH
from desk.bills import tables
from desk.bills.columns import BillColumns
from desk.bills.imports import Period
from desk.bills.settling import SettlingCandidate
from desk.models import ProviderBill
from pages import words

UNITS = [("usd", "USD: 0.04"), ("cents", "cents: 4"), ("micros", "micro-USD: 40000")]
MARKS = [(".", "1,234.50"), (",", "1.234,50")]


class PeriodForm(forms.Form):
    """Form of the first and last day of a bill; both or neither."""

    since = forms.DateField(required=False, label="First day", widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(
        required=False,
        label="Last day",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="In UTC. Leave both empty if the file has times: they set the period.",
    )

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        first, last = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if (first is None) != (last is None) and not self.errors:
            self.add_error("until", "Enter both days, or neither.")
        if first and last and last < first:
            self.add_error("until", "The last day is before the first.")
        return cleaned

    def period(self) -> Period | None:
        first, last = self.cleaned_data["since"], self.cleaned_data["until"]
        return Period(first=first, last=last) if first and last else None


class ImportForm(PeriodForm):
    channel = forms.ModelChoiceField(
        queryset=Channel.objects.filter(group_link=None).order_by("name"),
        help_text="The channel of the provider that sent the bill.",
    )
    file = forms.FileField(
        label="CSV file", help_text=f"At most {tables.MOST_BYTES // 1024 // 1024} MiB and {tables.MOST_ROWS:,} rows."
    )
    field_order = ("channel", "file", "since", "until")


class ColumnsForm(PeriodForm):
    """Form with one select per meaning, which offers the table's columns."""

    upstream_id = forms.ChoiceField(label="Id of the job", help_text="The provider's id, as in its answer to our call.")
    amount = forms.ChoiceField(label="Amount")
    unit = forms.ChoiceField(label="Amounts are in", choices=UNITS)
    mark = forms.ChoiceField(label="Amounts are written as", choices=MARKS)
    currency = forms.ChoiceField(required=False, help_text="A row in a currency other than USD is left out and listed.")
    time = forms.ChoiceField(required=False, help_text="UTC if it names no zone.")
    model = forms.ChoiceField(required=False, help_text="Helps to find calls of unknown outcome.")
    field_order = ("upstream_id", "amount", "unit", "mark", "currency", "time", "model", "since", "until")

    def __init__(self, *args: Any, head: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        named = [(name, name) for name in dict.fromkeys(head) if name]
        for name in ("upstream_id", "amount", "currency", "time", "model"):
            field: Any = self.fields[name]
            field.choices = [("", "– none –" if not field.required else "– choose –"), *named]

    def columns(self) -> BillColumns:
        names = BillColumns.__dataclass_fields__
        return BillColumns(**{name: self.cleaned_data[name] for name in names})


def first_choice(bill: ProviderBill, remembered: BillColumns | None, guessed: BillColumns) -> dict[str, Any]:
    """Build the initial values of a bill's column form."""
    begun = remembered or replace(guessed)
    period = {"since": bill.since, "until": bill.until}
    return {name: getattr(begun, name) for name in BillColumns.__dataclass_fields__} | period


class SettleForm(forms.Form):
    """Form that chooses the open call of a provider's line."""

    call = forms.TypedChoiceField(coerce=int, widget=forms.RadioSelect, label="The call that started this job")
    reason = forms.CharField(max_length=REASON_LENGTH, help_text="Recorded in the history.")

    def __init__(self, found: Sequence[SettlingCandidate], data: Any = None) -> None:
        super().__init__(data)
        field: Any = self.fields["call"]
        field.choices = [(each.call_id, told(each)) for each in found]
        if len(found) == 1:  # with several, the operator must choose: a wrong call would get another customer's result
            field.initial = found[0].call_id


def told(candidate: SettlingCandidate) -> str:
    stake = "an unknown amount" if candidate.stake_micros is None else words.cents(candidate.stake_micros)
    alike = "same model as the line, " if candidate.is_alike else ""
    return (
        f"{candidate.model} of {candidate.account}, {words.absolute(candidate.created_at)}{_apart(candidate)}: "
        f"{alike}{stake} at stake, {candidate.task_id}"
    )


def _apart(candidate: SettlingCandidate) -> str:
    if candidate.seconds_before is None:
        return ""
    way = "before" if candidate.seconds_before >= 0 else "after"
    return f", {words.span(abs(candidate.seconds_before))} {way} the line"
