"""Form of a channel: connection and adapter options. Each error is shown at its field."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from django import forms

from adapters import registry
from adapters.base import OperatorField, Target
from catalog import credentials, groups, validation
from catalog.fields import Invalid, told
from catalog.models import Channel, GroupChannel
from catalog.ruled_form import RuledForm
from catalog.secret_forms import moves
from desk.channel_page.declared_fields import DeclaredFields
from desk.channel_page.values import Misspelled

SECRET_FIELD = re.compile(r"credentials-[0-9]+-secret(-.+)?")
OPTION = re.compile(r"options-.+")


def declared(adapter: str, what: str) -> tuple[OperatorField, ...] | None:
    """Get an adapter's declared `option` or `capability` fields; None if it declares none."""
    chosen = registry.get(adapter)
    declare = getattr(chosen, f"{what}_fields", None)
    if declare is not None:
        return tuple(declare())
    return None if chosen is None or chosen.modalities else ()


class ChannelForm(RuledForm):
    """Form of a channel with the options of the adapter that it names."""

    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "name": validation.name,
        "adapter": validation.adapter,
        "base_url": validation.base_url,
    }
    adapter = forms.ChoiceField(help_text="The protocol that the provider speaks.")

    class Meta:
        model = Channel
        fields = ("name", "adapter", "base_url", "max_running", "enabled")
        labels: ClassVar[dict[str, str]] = {"base_url": "Base URL", "max_running": "Tasks at once"}
        help_texts: ClassVar[dict[str, str]] = {
            "base_url": "Include the version path if the provider has one, such as https://api.example.com/v1.",
            "max_running": "Most tasks that run here at once, across all workers. Empty: no limit.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        known = sorted({*registry.ADAPTERS, *filter(None, [self.instance.adapter])})
        self.fields["adapter"] = forms.ChoiceField(
            choices=[(name, name) for name in known], help_text="The protocol that the provider speaks."
        )
        chosen = str(self.data.get("adapter") or self.initial.get("adapter") or self.instance.adapter)
        if not self.instance.pk:
            self.instance.adapter = chosen  # the credential fields depend on it
        self.options = DeclaredFields("options", declared(chosen, "option"), self.instance.options or {})
        self.fields.update(self.options.made())
        self.initial.update(self.options.initial())

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        rows = credentials.current(self.instance.pk) if self.instance.pk else []
        reasons = [moves(row.origin, cleaned.get("base_url")) for row in rows]
        if rows and all(reasons) and not any(map(SECRET_FIELD.fullmatch, self._filled())):
            self.add_error("base_url", reasons[0])
        chosen = str(cleaned.get("adapter", ""))
        self._read_options(chosen)
        self._check_relay(chosen, cleaned.get("max_running"))
        if not self.errors:
            self._ask_adapter(cleaned)
        return cleaned

    def _read_options(self, adapter: str) -> None:
        of_others = [name for name in self._filled() if OPTION.fullmatch(name) and not self._is_own(name)]
        for name in of_others:
            option = name.removeprefix("options-")
            self.add_error("adapter", f"{option} is not an option of {adapter}: clear it first.")
        try:
            self.instance.options = validation.json_object(self.options.read(self.cleaned_data))
        except Invalid as error:
            self._complain("options", [told(problem) for problem in error.problems])
        except Misspelled as error:
            self._complain(f"options.{str(error).partition(':')[0]}", [str(error)])

    def _is_own(self, name: str) -> bool:
        return any(name == own or name.startswith(f"{own}-") for own in self.fields)

    def _complain(self, path: str, reasons: list[str]) -> None:
        """Add an error at the option's field, else at the adapter's."""
        name = self.options.field_of(path)
        self.add_error(name if name in self.fields else "adapter", reasons)

    def _check_relay(self, adapter: str, max_running: int | None) -> None:
        """Check settings that only task channels use, and the group that the channel serves."""
        settings = {"options": self.instance.options, "max_running": max_running}
        for name in validation.unused_by(adapter, settings):
            if name in self.fields:
                self.add_error(name, validation.UNUSED)
            else:
                self._complain(name, [validation.UNUSED])
        link = GroupChannel.objects.filter(channel_id=self.instance.pk).select_related("group").first()
        if link is not None and adapter != groups.adapter(link.group.platform):
            self.add_error(
                "adapter", f"The channel serves group {link.group}, which needs {groups.adapter(link.group.platform)}."
            )

    def _ask_adapter(self, cleaned: dict[str, Any]) -> None:
        """Let the adapter check the options, and the models that the channel offers with them."""
        adapter = registry.get(cleaned["adapter"])
        target = Target(
            adapter=cleaned["adapter"],
            base_url=cleaned["base_url"],
            upstream_model="",
            options=self.instance.options,
        )
        for complaint in adapter.validate(target) if adapter else ():
            if complaint.startswith("options"):
                self._complain(complaint.partition(":")[0], [complaint])
        offers = self.instance.channel_models.select_related("model") if self.instance.pk and not self.errors else ()
        for offer in offers:
            self._ask_of_model(offer, target)

    def _ask_of_model(self, offer: Any, target: Target) -> None:
        fields = {name: getattr(offer, name) for name in ("upstream_model", *validation.OFFERED)}
        of_model = Target(adapter=target.adapter, base_url=target.base_url, options=target.options, **fields)
        try:
            validation.target(of_model, modality=offer.model.modality)
        except Invalid as error:
            self._complain("", [f"Its model {offer.model.name}: {told(problem)}" for problem in error.problems])

    def _filled(self) -> list[str]:
        """List the fields of the whole page that have a value, including credentials."""
        return [name for name in self.data if str(self.data.get(name) or "").strip()]

    def clean_max_running(self) -> int | None:
        value: int | None = self.cleaned_data["max_running"]
        if value == 0:
            raise forms.ValidationError("Enter at least 1, or leave it empty for no limit.")
        return value
