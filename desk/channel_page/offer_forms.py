"""Form of a channel model, without JSON. Each error is shown at its field, in the words of the catalog file's
validation."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from adapters import registry
from adapters.base import Target
from catalog import validation
from catalog.fields import Invalid, told
from catalog.models import Channel, ChannelModel
from catalog.ruled_form import RuledForm
from desk.channel_page import upstream_table
from desk.channel_page.declared_fields import DeclaredFields
from desk.channel_page.forms import declared
from desk.channel_page.upstream_table import MORE_ALLOWED, MORE_FIXED, UpstreamFields
from desk.channel_page.values import Misspelled
from desk.kit.rows import AmountsField, Row


class CostsField(AmountsField):
    """Field of the operator's own cost by tier. Priced tiers are listed and may stay empty."""

    def read(self, rows: list[Row]) -> dict[str, str]:
        return super().read([row for row in rows if row[1]])


class ChannelModelForm(RuledForm):
    """Form for one channel, which a subclass sets as `channel`."""

    channel: ClassVar[Channel]
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {"upstream_model": validation.name, "cost": validation.costs}
    cost = CostsField(
        required=False, label="Own cost", help_text='USD by tier, or "*" for all. Used for margins, never billed.'
    )

    class Meta:
        model = ChannelModel
        fields = ("model", "upstream_model", "enabled")
        help_texts: ClassVar[Mapping[str, str]] = {"upstream_model": "The provider's name of the model."}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row, channel = self.instance, self.channel
        if row.pk:
            del self.fields["model"]
        else:
            row.channel = channel
        self.capabilities = DeclaredFields("capabilities", declared(channel.adapter, "capability"), row.capabilities)
        table = upstream_table.rows(registry.get(channel.adapter), self._target(row.capabilities, [], {}))
        self.upstream = UpstreamFields(table, row.extra_fields, row.fixed)
        self.fields.update(self.capabilities.made())
        self.fields.update(self.upstream.made())
        own = {**self.capabilities.initial(), **self.upstream.initial(), "cost": self._costs()}
        self.initial.update(own)

    def capabilities_names(self) -> list[str]:
        return [name for name in self.fields if name.startswith("capabilities-")]

    def _costs(self) -> list[Row]:
        stored = self.instance.cost or {}
        priced = self.instance.model.prices if self.instance.pk else {}
        return [*((tier, str(usd)) for tier, usd in stored.items()), *((t, "") for t in priced if t not in stored)]

    def _target(self, capabilities: Any, extra_fields: Any, fixed: Any) -> Target:
        return Target(
            adapter=self.channel.adapter,
            base_url=self.channel.base_url,
            options=self.channel.options or {},
            upstream_model=self.instance.upstream_model,
            capabilities=capabilities,
            extra_fields=extra_fields,
            fixed=fixed,
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        model = self.instance.model if self.instance.pk else cleaned.get("model")
        if model and not self.instance.pk and self.channel.channel_models.filter(model=model).exists():
            self.add_error("model", f"{self.channel} already offers {model}: change it on its own page.")
        row = self.instance
        row.upstream_model = cleaned.get("upstream_model") or row.upstream_model
        row.capabilities = self._ruled("capabilities", self.capabilities.read(cleaned), validation.json_object)
        row.extra_fields = self._ruled(
            MORE_ALLOWED, self.upstream.read_allowed(cleaned), validation.extra_fields, unread=[]
        )
        row.fixed = self._fixed(cleaned)
        if "cost" in cleaned:
            row.cost = cleaned["cost"] or ({} if row.cost == {} else None)
        if model and not self.errors:
            self._ask_adapter(model.modality)
        return cleaned

    def _fixed(self, cleaned: Mapping[str, Any]) -> Any:
        try:
            return self._ruled(MORE_FIXED, self.upstream.read_fixed(cleaned), validation.json_object)
        except Misspelled as error:
            self.add_error(MORE_FIXED, str(error))
            return {}

    def _ruled(self, name: str, value: Any, rule: Callable[[Any], Any], unread: Any = None) -> Any:
        try:
            return rule(value)
        except Invalid as error:
            field = name if name in self.fields else None
            self.add_error(field, [told(problem) for problem in error.problems])
            return {} if unread is None else unread

    def _ask_adapter(self, modality: str) -> None:
        row = self.instance
        try:
            validation.target(self._target(row.capabilities, row.extra_fields, row.fixed), modality=modality)
        except Invalid as error:
            for path, reason in error.problems:
                name = self._field_of(path)
                self.add_error(name if name in self.fields else None, told((path, reason)))

    def _field_of(self, path: str) -> str:
        if path.startswith("capabilities"):
            return self.capabilities.field_of(path)
        if path.startswith(("extra_fields", "fixed")):
            return self.upstream.field_of(path, self.instance.extra_fields)
        return "" if self.instance.pk or path else "model"
