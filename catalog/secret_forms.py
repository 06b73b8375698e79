"""The admin's forms that take secrets, and never show them again."""

import json
from typing import Any

from django import forms

from catalog import credentials, validation
from catalog.fields import Invalid, told
from catalog.models import Credential
from catalog.ruled_form import RuledForm, StrictDecoder

BY_OPERATOR = "by an operator"
NEW_PASSWORD = {"autocomplete": "new-password"}


class SecretForm(RuledForm):
    """A form that takes an api_key and never shows it again."""

    api_key = forms.CharField(
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs=NEW_PASSWORD),
        help_text="Leave empty to keep what is stored.",
    )

    def clean_api_key(self) -> str:
        value: str = self.cleaned_data["api_key"]
        if value:
            try:
                validation.credentials({"api_key": value})
            except Invalid as error:
                raise forms.ValidationError([told(problem) for problem in error.problems]) from None
        return value


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]
    """Takes a credential and never shows it again; enables and disables it on request only, because the service may
    have done either while the page was open."""

    secret = forms.CharField(
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs=NEW_PASSWORD),
        label="api key",
        help_text="Or all of its fields as a JSON object. Empty keeps what is stored.",
    )
    switch = forms.ChoiceField(
        required=False, choices=[("", "leave as it is"), ("enable", "enable"), ("disable", "disable")]
    )

    class Meta:
        model = Credential
        fields = ()

    def clean_secret(self) -> dict[str, str]:
        given = self.cleaned_data["secret"].strip()
        if not given:
            return {}
        try:
            return validation.credentials(
                json.loads(given, cls=StrictDecoder) if given.startswith("{") else self._as_api_key(given)
            )
        except Invalid as error:
            raise forms.ValidationError([told(problem) for problem in error.problems]) from None
        except ValueError:
            raise forms.ValidationError("This is no valid JSON.") from None

    def _as_api_key(self, given: str) -> dict[str, str]:
        """Beside what else the credential holds."""
        stored = credentials.readable(self.instance.ciphertext) if self.instance.pk else None
        return {**(stored or {}), "api_key": given}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.instance.pk and self.has_changed() and "secret" in cleaned and not cleaned["secret"]:
            self.add_error("secret", "A new credential needs a value.")
        return cleaned

    def save(self, commit: bool = True) -> Any:
        if self.cleaned_data["secret"]:
            credentials.fill(self.instance, self.cleaned_data["secret"])
        if self.cleaned_data["switch"] == "enable":
            credentials.enable(self.instance)
        elif self.cleaned_data["switch"] == "disable":
            credentials.disable(self.instance, BY_OPERATOR)
        return super().save(commit)
