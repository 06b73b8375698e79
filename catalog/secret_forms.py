"""The admin's forms that take secrets, and never show them again."""

import json
from collections.abc import Iterable
from typing import Any

from django import forms

from adapters import registry
from catalog import credentials, validation
from catalog.fields import Invalid, told
from catalog.models import Credential
from catalog.ruled_form import StrictDecoder
from common import urls
from pages.admin_pages import KnownRows

BY_OPERATOR = "by an operator"
PART = "secret-"
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
        sets = getattr(registry.get(self.instance.adapter), "credential_sets", ())
        parts = dict.fromkeys(name for names in sets for name in names if name != "api_key")
        form.ask_for(parts, are_told=bool(sets))
        return form


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]
    """Takes a credential and never shows it again; enables and disables it on request only, because the service may
    have done either while the page was open. Another secret is another row, and the one before is retired."""

    secret = forms.CharField(
        required=False,
        strip=False,
        widget=forms.PasswordInput(render_value=False, attrs=NEW_PASSWORD),
        label="api key",
        help_text="Where a template needs other names: all of them as a JSON object.",
    )
    switch = forms.ChoiceField(
        required=False, choices=[("", "leave as it is"), ("enable", "enable"), ("disable", "disable")]
    )

    are_told = True

    class Meta:
        model = Credential
        fields = ()

    def ask_for(self, names: Iterable[str], *, are_told: bool) -> None:
        """A field for each further part of the adapter's credentials; `are_told` where it says what they have."""
        self.are_told = are_told
        for name in names:
            widget = forms.PasswordInput(render_value=False, attrs=NEW_PASSWORD)
            label = name.replace("_", " ")
            self.fields[f"{PART}{name}"] = forms.CharField(required=False, strip=False, widget=widget, label=label)

    @property
    def secrets(self) -> list[Any]:
        """The fields that take the credential."""
        return [self[name] for name in self.fields if name == "secret" or name.startswith(PART)]

    def clean_secret(self) -> dict[str, str]:
        given = self.cleaned_data["secret"]
        if not given:
            return {}
        is_json = given.lstrip().startswith("{")
        try:
            if is_json:
                return validation.credentials(json.loads(given, cls=StrictDecoder))
            return {**self._stored(), **validation.credentials({"api_key": given})}
        except Invalid as error:
            raise forms.ValidationError([told(problem) for problem in error.problems]) from None
        except ValueError:
            raise forms.ValidationError("This is no valid JSON.") from None

    def _stored(self) -> dict[str, str]:
        """What the credential holds, where that is for the origin that the channel has on this page: what is entered
        stands beside it."""
        is_for_it = self.instance.pk and self.instance.origin == urls.origin(self.instance.channel.base_url)
        return dict((credentials.readable(self.instance.ciphertext) if is_for_it else None) or {})

    def _add_parts(self, cleaned: dict[str, Any]) -> None:
        given = {name: cleaned.get(name, "") for name in self.fields if name.startswith(PART)}
        parts = {name.removeprefix(PART): text for name, text in given.items() if text}
        if not parts or "secret" not in cleaned:
            return
        try:
            cleaned["secret"] = {**(cleaned["secret"] or self._stored()), **validation.credentials(parts)}
        except Invalid as error:
            self.add_error("secret", [told(problem) for problem in error.problems])

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        self._add_parts(cleaned)
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
