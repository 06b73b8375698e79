"""Forms of accounts and keys: credit, key, rotation."""

import secrets
from typing import Any

from django import forms

from accounts.models import Account, ApiKey, Group
from common import money
from desk.access.guarded_admin import REASON_LENGTH
from desk.commands.command import LARGEST_INTEGER

LONGEST_ID = 19  # digits that every database takes for a number of 64 bits


def new_reference() -> str:
    return f"credit-{secrets.token_hex(16)}"


class CreditForm(forms.Form):
    """Form of a credit or debit. The empty form carries the reference, so that submitting it twice books once."""

    amount = forms.CharField(label="Amount in USD", help_text="A negative amount is a debit.", max_length=40)
    reason = forms.CharField(max_length=REASON_LENGTH)
    reference = forms.RegexField(r"\Acredit-[0-9a-f]{32}\Z", initial=new_reference, widget=forms.HiddenInput)

    def clean_amount(self) -> int:
        """Convert the amount to micro-USD."""
        try:
            micros = money.micros(self.cleaned_data["amount"])
        except (ValueError, ArithmeticError) as error:
            raise forms.ValidationError("Enter an amount in USD of at most a billion.") from error
        if micros == 0:
            raise forms.ValidationError("Enter an amount other than zero.")
        return micros


class RotateForm(forms.Form):
    grace_seconds = forms.IntegerField(
        min_value=0, max_value=LARGEST_INTEGER, initial=0, help_text="The old secret works for this long."
    )
    reason = forms.CharField(max_length=REASON_LENGTH)


class NamedAccountField(forms.ModelChoiceField):  # type: ignore[type-arg]
    """Field that names an account by name or id: a select would list every customer."""

    def prepare_value(self, value: Any) -> Any:
        found = value if isinstance(value, Account) else self._of_id(value)
        return found.name if found else value

    def to_python(self, value: Any) -> Account | None:
        if value in self.empty_values:
            return None
        found = Account.objects.filter(name=value).first() or self._of_id(value)
        if found is None:
            raise forms.ValidationError("No account has this name.", code="invalid_choice")
        return found

    def _of_id(self, value: Any) -> Account | None:
        is_id = str(value).isascii() and str(value).isdecimal() and len(str(value)) < LONGEST_ID
        return Account.objects.filter(pk=value).first() if is_id else None


class ApiKeyForm(forms.ModelForm):  # type: ignore[type-arg]
    account = NamedAccountField(
        queryset=Account.objects.all(), widget=forms.TextInput(attrs={"list": "account-names", "autocomplete": "off"})
    )
    group = forms.ModelChoiceField(
        queryset=Group.objects.order_by("name"), required=False, help_text="What a general key may call."
    )
    expires_at = forms.DateTimeField(
        required=False,
        label="Expires (UTC)",
        help_text="Empty: never.",
        widget=forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"}, format="%Y-%m-%dT%H:%M:%S"),
    )
    reason = forms.CharField(required=False, max_length=REASON_LENGTH, help_text="Why the key is issued.")

    class Meta:
        model = ApiKey
        apis = ("task_api", "videos_api")
        fields = ("account", "name", "binding", "group", *apis, "expires_at", "max_queued", "max_running")

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        binding = self.cleaned_data.get("binding", self.instance.binding)
        if self.cleaned_data.get("group") and binding != ApiKey.Binding.GENERAL:
            self.add_error("group", "Only a general key has a group.")
        if self.cleaned_data.get("videos_api") and binding != ApiKey.Binding.TASK:
            self.add_error("videos_api", "Only a task key calls /v1/videos.")
        if self.instance.pk and self._is_taken(self.cleaned_data.get("name")):
            self.add_error("name", "The account already has a key with this name.")
        if not self.instance.pk and "reason" not in self.errors and not self.cleaned_data["reason"]:
            self.add_error("reason", "Enter a reason: the history records it.")
        return cleaned

    def _is_taken(self, name: str | None) -> bool:
        """Check the unique name, which Django skips as the account is not a field of the form."""
        others = ApiKey.objects.exclude(pk=self.instance.pk)
        return others.filter(account=self.instance.account_id, name=name).exists()
