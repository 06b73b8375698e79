"""Form to explain a request under a plan: the JSON of a submission, or a recent task."""

from typing import Any

from django import forms
from django.core.management import CommandError

from accounts.models import ApiKey
from catalog.models import Plan
from common import strict_json
from common.errors import InvalidRequest
from desk.commands import subjects
from desk.plans_page import explaining
from desk.plans_page.explaining import Explained
from tasks.models import Task

LONGEST = 1_000_000
EXAMPLE = '{"model": "aurora-image", "params": {"prompt": "A lighthouse at dusk"}}'


class ExplainForm(forms.Form):
    task = forms.ChoiceField(required=False, label="A recent task of this plan")
    request = forms.CharField(
        required=False,
        max_length=LONGEST,
        label="Or the body of POST /v1/tasks",
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false", "placeholder": EXAMPLE, "class": "mono"}),
    )
    key = forms.CharField(
        required=False,
        max_length=200,
        label="As this key",
        help_text="Name or id of a key, with its own plan. Empty: any key that has chosen this plan.",
    )

    def __init__(self, data: Any = None, *, plan: Plan, user: Any) -> None:
        """Leave out the fields of tasks and keys for users who may not view them."""
        super().__init__(data, auto_id="explain_%s")
        self.plan = plan
        if not user.has_perm("accounts.view_apikey"):
            del self.fields["key"]
        if not user.has_perm("tasks.view_task"):
            del self.fields["task"]
            return
        tasks = [(task.pk, f"{task.model_name}, {task.status}, {task.pk}") for task in explaining.recent(plan)]
        self.fields["task"] = forms.ChoiceField(
            required=False, label=self.fields["task"].label, choices=[("", "none: the body below"), *tasks]
        )

    def clean_key(self) -> ApiKey | None:
        name = self.cleaned_data["key"]
        if not name:
            return None
        try:
            return subjects.named_key("key", name)
        except CommandError as error:
            raise forms.ValidationError(str(error).removeprefix("key: ")) from None

    def clean_request(self) -> dict[str, Any] | None:
        text = self.cleaned_data["request"]
        if not text.strip():
            return None
        try:
            return strict_json.loads_object(text.encode())
        except InvalidRequest as error:
            raise forms.ValidationError(error.message) from None

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.errors and not cleaned.get("task") and cleaned.get("request") is None:
            self.add_error("request", "Pick a task, or enter the body of a request.")
        return cleaned

    def explained(self) -> Explained:
        cleaned = self.cleaned_data
        if cleaned.get("task"):
            return explaining.task(self.plan, Task.objects.get(pk=cleaned["task"]))
        return explaining.document(self.plan, cleaned["request"], cleaned.get("key"))
