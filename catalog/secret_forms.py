"""The admin's forms that take secrets, and never show them again."""

import json
from typing import Any

from django import forms

from catalog import credentials, validation
from catalog.fields import Invalid, told
from catalog.models import Credential
from catalog.ruled_form import StrictDecoder
from common import urls
from common.admin_pages import KnownRows

BY_OPERATOR = "by an operator"
NEW_PASSWORD = {"autocomplete": "new-password"}


def moves(stored: str, base_url: object) -> str:
    """Why a secret for the stored origin does not do for this address, in words; empty where it does."""
    origin = urls.origin(str(base_url or ""))
    if not origin or origin == stored:
        return ""
    return f"Moves to another origin, {origin}: enter the secret again. The stored one is only sent to {stored}."


class CredentialFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """The credentials of a channel, whose address the same page may change."""

    def _construct_form(self, i: int, **kwargs: Any) -> Any:
        form = super()._construct_form(i, **kwargs)  # type: ignore[misc]
        form.instance.channel = self.instance  # with the address as the page has it
        return form


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]
    """Takes a credential and never shows it again; enables and disables it on request only, because the service may
    have done either while the page was open. Another secret is another row, and the one before is retired."""

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
        """Beside what else the credential holds for this origin."""
        is_for_it = self.instance.pk and self.instance.origin == urls.origin(self.instance.channel.base_url)
        stored = credentials.readable(self.instance.ciphertext) if is_for_it else None
        return {**(stored or {}), "api_key": given}

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.instance.pk and self.has_changed() and "secret" in cleaned and not cleaned["secret"]:
            self.add_error("secret", "A new credential needs a value.")
        if self.instance.retired_at is not None and cleaned.get("switch") and not cleaned.get("secret"):
            self.add_error("switch", "It is retired: enter its secret again as a new credential.")
        return cleaned

    def save(self, commit: bool = True) -> Any:
        if self.cleaned_data["secret"]:
            old = self.instance if self.instance.pk else None
            self.instance = credentials.replace(old, self.instance.channel, self.cleaned_data["secret"])
        if self.cleaned_data["switch"] == "enable":
            credentials.enable(self.instance)
        elif self.cleaned_data["switch"] == "disable":
            credentials.disable(self.instance, BY_OPERATOR)
        return super().save(commit)
