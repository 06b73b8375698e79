"""The admin's forms of the catalog: each breach of a rule of `validation` is told at its field."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django import forms

from adapters import registry
from adapters.base import Target
from catalog import credentials, groups, model_params, naming, validation
from catalog.fields import Invalid, each, told
from catalog.models import Channel, ChannelModel, GroupChannel, MediaModel, Plan, Route
from catalog.ruled_form import RuledForm
from catalog.secret_forms import moves
from common.admin_pages import KnownRows

SECRET_FIELD = re.compile(r"credentials-[0-9]+-secret")


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
        self.apply("pricing_mode", partial(validation.pricing_mode, modality=modality))
        mode = cleaned.get("pricing_mode") or ""
        self.apply("prices", partial(validation.prices, mode=mode))
        tiers = cleaned.get("prices") or ()
        self.apply("params", partial(model_params.read, modality=modality, pricing_mode=mode, tiers=tiers))
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

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        rows = credentials.current(self.instance.pk) if self.instance.pk else []
        reasons = [moves(row.origin, cleaned.get("base_url")) for row in rows]
        if rows and all(reasons) and not any(map(SECRET_FIELD.fullmatch, self._filled())):
            self.add_error("base_url", reasons[0])
        self._check_relay(cleaned)
        return cleaned

    def _check_relay(self, cleaned: dict[str, Any]) -> None:
        """What only channels of tasks have, and the group that the channel serves."""
        settings = {"options": cleaned.get("options"), "max_running": cleaned.get("max_running")}
        for name in validation.unused_by(cleaned.get("adapter", ""), settings):
            self.add_error(name, validation.UNUSED)
        link = GroupChannel.objects.filter(channel_id=self.instance.pk).select_related("group").first()
        if link is not None and cleaned.get("adapter") != groups.adapter(link.group.platform):
            self.add_error("adapter", f"The channel serves group {link.group}: {groups.adapter(link.group.platform)}.")

    def _filled(self) -> list[str]:
        """The fields of the whole page, the credentials' too, that have a value."""
        return [name for name in self.data if str(self.data.get(name) or "").strip()]

    def clean_max_running(self) -> int | None:
        value: int | None = self.cleaned_data["max_running"]
        if value == 0:
            raise forms.ValidationError("At least 1; empty is unlimited.")
        return value


class ChannelModelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "upstream_model": validation.name,
        "capabilities": validation.json_object,
        "extra_fields": validation.extra_fields,
        "fixed": validation.json_object,
        "cost": validation.costs,
    }
    empty: ClassVar[dict[str, Any]] = {"capabilities": {}, "extra_fields": [], "fixed": {}}

    class Meta:
        model = ChannelModel
        fields = ("model", "upstream_model", "capabilities", "extra_fields", "fixed", "cost", "enabled")


class RouteFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """The routes of a plan."""


class ChannelModelFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
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
            extra_fields=offer["extra_fields"],
            fixed=offer["fixed"],
        )
        try:
            validation.target(target, modality=offer["model"].modality)
        except Invalid as error:
            for path, reason in error.problems:
                field = next((name for name in validation.OFFERED if path.startswith(name)), "model")
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
