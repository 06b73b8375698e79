"""The button that gives an account or a key its budgets."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import Account, ApiKey
from billing import budgets
from desk.kit.actions import ReasonForm, RowAction
from pages import words

WHOSE = {Account: "the account and all its keys", ApiKey: "the key"}


class UsdField(forms.CharField):
    """An amount in USD, as micro-USD; None where nothing is entered."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            required=False, max_length=40, widget=forms.TextInput(attrs={"inputmode": "decimal"}), **kwargs
        )

    def clean(self, value: Any) -> int | None:
        text = str(super().clean(value))
        if not text:
            return None
        try:
            micros = words.micros(text)
        except ValueError as error:
            raise forms.ValidationError("Not an amount in USD of at most a billion, like 12.50.") from error
        if micros < 0:
            raise forms.ValidationError("A budget is not below zero.")
        return micros

    def prepare_value(self, value: Any) -> Any:
        return words.usd(value).removeprefix("$") if isinstance(value, int) else value


class BudgetForm(ReasonForm):
    day = UsdField(label="USD per day (UTC)")
    month = UsdField(label="USD per month (UTC)", help_text="Empty: no budget. 0: nothing may be spent.")
    field_order = ("day", "month", "reason")


class SetBudgets(RowAction):
    name, label, right = "budgets", "Set budgets", "accounts.change_account"
    is_atomic = True

    def meaning(self, row: Account | ApiKey) -> str:
        found = [
            f"{words.usd(each.used_micros)} of {words.usd(each.limit_micros)} a {each.window} are used"
            for each in budgets.standing(*(_holder(row)))
            if each.holder == ("account" if isinstance(row, Account) else "key")
        ]
        now = f"Now {' and '.join(found)}." if found else "There is none now."
        return (
            f"What {WHOSE[type(row)]} may spend in a UTC day and month: beyond it submissions are refused until it "
            f"renews. What is spent in the running day and month counts at once. {now}"
        )

    def form(self, row: Account | ApiKey, data: Any = None) -> forms.Form:
        return BudgetForm(data, initial={"day": row.budget_day_micros, "month": row.budget_month_micros})

    def apply(self, row: Account | ApiKey, values: Mapping[str, Any], *, by: str) -> str:
        day, month = values["day"], values["month"]
        budgets.set_limits(row, day_micros=day, month_micros=month)
        said = [
            f"{words.usd(micros)} a {name}" for name, micros in (("day", day), ("month", month)) if micros is not None
        ]
        return f"Budget: {', '.join(said) or 'none'}."


def _holder(row: Account | ApiKey) -> tuple[int, int | None]:
    return (row.pk, None) if isinstance(row, Account) else (row.account_id, row.pk)
