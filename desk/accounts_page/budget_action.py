"""Button that sets the budgets of an account or a key."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import Account, ApiKey
from billing import budgets
from desk.kit.actions import ReasonForm, RowAction
from pages import words

WHOSE = {Account: "the account and all its keys", ApiKey: "the key"}


class UsdField(forms.CharField):
    """Field of an amount in USD, as micro-USD; None if it is empty."""

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
            raise forms.ValidationError("Enter an amount in USD of at most a billion, such as 12.50.") from error
        if micros < 0:
            raise forms.ValidationError("A budget cannot be negative.")
        return micros

    def prepare_value(self, value: Any) -> Any:
        return words.usd(value).removeprefix("$") if isinstance(value, int) else value


class BudgetForm(ReasonForm):
    day = UsdField(label="USD per day (UTC)")
    month = UsdField(label="USD per month (UTC)", help_text="Empty: no budget. 0: no spending.")
    field_order = ("day", "month", "reason")


class SetBudgets(RowAction):
    name, label, right = "budgets", "Set budgets", "accounts.change_account"
    is_atomic = True

    def meaning(self, row: Account | ApiKey) -> str:
        found = [
            f"{words.cents(each.used_micros)} of {words.usd(each.limit_micros)} a {each.window} is used"
            for each in budgets.standing(*(_holder(row)))
            if each.holder == ("account" if isinstance(row, Account) else "key")
        ]
        now = f"Now {' and '.join(found)}." if found else "There is no budget now."
        return (
            f"Limits what {WHOSE[type(row)]} may spend per UTC day and month: beyond a budget, submissions are refused "
            f"until it renews. Spending of the current day and month counts at once. {now}"
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
