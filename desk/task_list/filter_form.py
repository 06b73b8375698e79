"""Filters of the task list, and their names in links."""

from collections.abc import Mapping
from typing import Any

from django import forms

from accounts.models import Account, ApiKey
from catalog.models import Channel
from common import ids, modalities
from desk.task_list.finding import TaskQuery
from tasks.models import Task

# Filters as other admin pages link to them.
LONG_NAMES = {
    "status__exact": "status",
    "modality__exact": "modality",
    "model_name__exact": "model",
    "channel__id__exact": "channel",
    "account__id__exact": "account_id",
    "key__id__exact": "key",
}
MOST_CHANNELS = 500


class MomentInput(forms.DateTimeInput):
    input_type = "datetime-local"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%dT%H:%M")


class TaskFilterForm(forms.Form):
    status = forms.ChoiceField(required=False, choices=[("", "any"), *Task.Status.choices])
    modality = forms.ChoiceField(required=False, choices=[("", "any"), *((name, name) for name in modalities.NAMES)])
    model = forms.CharField(required=False, max_length=200)
    channel = forms.TypedChoiceField(required=False, coerce=int, empty_value=None)
    account = forms.CharField(required=False, max_length=200)
    key = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, label="Key number")
    since = forms.DateTimeField(required=False, widget=MomentInput, label="Since (UTC)")
    until = forms.DateTimeField(required=False, widget=MomentInput, label="Before (UTC)")
    before = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__({LONG_NAMES.get(name, name): value for name, value in given.items()})
        channels = Channel.objects.order_by("name").values_list("pk", "name")[:MOST_CHANNELS]
        self.fields["channel"].choices = [("", "any"), *channels]  # type: ignore[attr-defined]
        self._take_account_by_number()

    def _take_account_by_number(self) -> None:
        """Convert an account number from a link to the name in the form."""
        number = str(self.data.get("account_id", ""))
        if number.isdecimal() and len(number) < 19:
            name = Account.objects.filter(pk=int(number)).values_list("name", flat=True).first()
            self.data = {**self.data, "account": name or f"#{number}"}

    def clean_account(self) -> Account | None:
        name = self.cleaned_data["account"]
        found = Account.objects.filter(name=name).first() if name else None
        if name and found is None:
            raise forms.ValidationError("No account has this name.")
        return found

    def clean_key(self) -> ApiKey | None:
        number = self.cleaned_data["key"]
        found = ApiKey.objects.filter(pk=number).first() if number else None
        if number and found is None:
            raise forms.ValidationError("No key has this number.")
        return found

    def clean_before(self) -> str | None:
        before: str = self.cleaned_data["before"]
        return before if ids.is_task_id(before) else None

    def query(self) -> TaskQuery:
        """Build the query of a valid form."""
        given = self.cleaned_data
        account, key = given["account"], given["key"]
        return TaskQuery(
            status=given["status"] or None,
            modality=given["modality"] or None,
            model=given["model"] or None,
            channel_id=given["channel"],
            account_id=account.pk if account else None,
            key_id=key.pk if key else None,
            since=given["since"],
            until=given["until"],
            before=given["before"],
        )

    def sent(self, **changes: str) -> dict[str, str]:
        """Get the filters for a link to another page of the list."""
        kept = {name: str(self.data[name]) for name in self.fields if self.data.get(name) and name != "before"}
        return {**kept, **changes}
