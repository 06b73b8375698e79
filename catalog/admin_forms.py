"""The admin's forms of the catalog: the rules of `validation`, told at the field that breaks them."""

import json
from collections.abc import Callable
from typing import Any, ClassVar

from django import forms

from adapters import registry
from adapters.base import Target
from catalog import credentials, naming, validation
from catalog.fields import Invalid, each, told
from catalog.models import Channel, ChannelModel, Credential, GroupChannel, GroupOffer, MediaModel, Plan, Route
from common import strict_json
from common.encryption import encrypt_mapping
from common.errors import InvalidRequest

BY_OPERATOR = "by an operator"


class StrictDecoder(json.JSONDecoder):
    """JSON by the rules of a request's body: no key twice, no depth or number that breaks what reads it."""

    def decode(self, s: str, *_: Any) -> Any:
        try:
            return strict_json.loads(s.encode())
        except InvalidRequest as error:
            raise json.JSONDecodeError(error.message, s, 0) from None


class RuledForm(forms.ModelForm):  # type: ignore[type-arg]
    """A form whose fields follow rules; `rules` names those that need nothing but the field's value."""

    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {}
    empty: ClassVar[dict[str, Any]] = {}  # what a blank JSON field means

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            if isinstance(field, forms.JSONField):
                field.decoder = StrictDecoder

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name, value in self.empty.items():
            if name in cleaned and cleaned[name] is None:
                cleaned[name] = value
        for name, rule in self.rules.items():
            self.apply(name, rule)
        return cleaned

    def apply(self, name: str, rule: Callable[[Any], Any]) -> None:
        """Replace the field's value by what the rule makes of it, or complain at the field."""
        value = self.cleaned_data.get(name)
        if value is None:
            return
        try:
            self.cleaned_data[name] = rule(value)
        except Invalid as error:
            self.add_error(name, [told(problem) for problem in error.problems])


class MediaModelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {"name": validation.name}
    empty: ClassVar[dict[str, Any]] = {"params": {}}
    aliases = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 3}), help_text="Further names, one a line."
    )

    class Meta:
        model = MediaModel
        fields = ("name", "aliases", "modality", "default_plan", "pricing_mode", "prices", "params", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["aliases"] = "\n".join(naming.aliases(self.instance))

    def clean_aliases(self) -> list[str]:
        lines = [line.strip() for line in self.cleaned_data["aliases"].splitlines()]
        try:
            return each(validation.name)([line for line in lines if line])
        except Invalid as error:
            raise forms.ValidationError([told(problem) for problem in error.problems]) from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        modality = cleaned.get("modality") or self.instance.modality
        mode = cleaned.get("pricing_mode") or ""
        self.apply("pricing_mode", lambda value: validation.pricing_mode(value, modality=modality))
        self.apply("prices", lambda value: validation.prices(value, mode=mode))
        self.apply("params", lambda value: validation.params(value, modality=modality))
        self._check_names(modality)
        return cleaned

    def _check_names(self, modality: str) -> None:
        name, aliases = self.cleaned_data.get("name"), self.cleaned_data.get("aliases")
        if name is None or aliases is None:
            return
        names = [name, *aliases]
        if len(set(names)) < len(names):
            self.add_error("aliases", "An alias must differ from the name and from the other aliases.")
        for taken in naming.taken(modality, names, besides=[self.instance.pk] if self.instance.pk else []):
            self.add_error("name" if taken == name else "aliases", f"{taken} already names a {modality} model.")


class PlanForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "name": validation.name,
        "price_multiplier": validation.multiplier,
    }

    class Meta:
        model = Plan
        fields = ("name", "price_multiplier")


class SecretForm(RuledForm):
    """A form that takes an api_key and never shows it again."""

    api_key = forms.CharField(
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
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


class ChannelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "name": validation.name,
        "adapter": validation.adapter,
        "base_url": validation.base_url,
        "options": validation.json_object,
    }
    empty: ClassVar[dict[str, Any]] = {"options": {}}
    adapter = forms.ChoiceField()

    class Meta:
        model = Channel
        fields = ("name", "adapter", "base_url", "options", "max_running", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = sorted({*registry.ADAPTERS, *filter(None, [self.instance.adapter])})
        self.fields["adapter"] = forms.ChoiceField(choices=[(name, name) for name in known])

    def clean_max_running(self) -> int | None:
        value: int | None = self.cleaned_data["max_running"]
        if value == 0:
            raise forms.ValidationError("At least 1; empty is unlimited.")
        return value


class CredentialForm(forms.ModelForm):  # type: ignore[type-arg]
    """Takes a credential and never shows it again; enables and disables it on request only, because the service may
    have done either while the page was open."""

    secret = forms.CharField(
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
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


class ChannelModelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "upstream_model": validation.name,
        "capabilities": validation.json_object,
        "cost": validation.costs,
    }
    empty: ClassVar[dict[str, Any]] = {"capabilities": {}}

    class Meta:
        model = ChannelModel
        fields = ("model", "upstream_model", "capabilities", "cost", "enabled")


class ChannelModelFormSet(forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """Asks the channel's adapter about each of its models."""

    def clean(self) -> None:
        super().clean()
        for form in self.forms:
            if form.is_valid() and form.cleaned_data.get("model") and not form.cleaned_data.get("DELETE"):
                self._ask_adapter(form)

    def _ask_adapter(self, form: Any) -> None:
        channel, offer = self.instance, form.cleaned_data
        target = Target(
            adapter=channel.adapter,
            base_url=channel.base_url,
            options=channel.options or {},
            upstream_model=offer["upstream_model"],
            capabilities=offer["capabilities"],
        )
        try:
            validation.target(target, modality=offer["model"].modality)
        except Invalid as error:
            for path, reason in error.problems:
                field = "capabilities" if path.startswith("capabilities") else "model"
                form.add_error(field, told((path, reason)))


class RouteForm(forms.ModelForm):  # type: ignore[type-arg]
    class Meta:
        model = Route
        fields = ("model", "channel", "priority", "weight", "resubmit_ambiguous", "enabled")

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        model, channel = cleaned.get("model"), cleaned.get("channel")
        if model and channel and not ChannelModel.objects.filter(model=model, channel=channel).exists():
            self.add_error("channel", f"{channel} does not offer {model}; add the model to the channel first.")
        return cleaned


class GroupOfferForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "models_listed": each(validation.name),
        "prices": validation.token_prices,
        "image_prices": validation.costs,
    }
    empty: ClassVar[dict[str, Any]] = {"prices": {}, "image_prices": {}}

    class Meta:
        model = GroupOffer
        fields = ("group", "models_listed", "prices", "image_prices")


class GroupChannelForm(SecretForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "base_url": validation.base_url,
        "dialects": validation.dialects,
    }
    empty: ClassVar[dict[str, Any]] = {"dialects": []}

    class Meta:
        model = GroupChannel
        fields = ("group", "base_url", "priority", "dialects")

    def store_secret(self) -> None:
        """Encrypt a given api_key into the row; a new row without one gets an empty credential."""
        if self.cleaned_data["api_key"] or not self.instance.ciphertext:
            values = {"api_key": self.cleaned_data["api_key"]} if self.cleaned_data["api_key"] else {}
            self.instance.ciphertext = encrypt_mapping(values)
            self.instance.last4 = credentials.last4(values)
