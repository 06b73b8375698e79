"""Form of a model: names, prices by tier and params. Each error is shown at its field, in the words of the catalog
file's validation."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, ClassVar

from django import forms

from billing import modes
from catalog import naming, validation
from catalog.fields import Invalid, each, told
from catalog.models import MediaModel, Plan
from catalog.ruled_form import RuledForm
from desk.kit.rows import AmountsField, LinesField
from desk.models_page import param_forms
from desk.models_page.param_forms import DROP, ParamFields

PRICES = " ".join(mode.prices_help for mode in modes.TABLE)

NO_TIERS = (
    "Requests must be able to choose a tier: enter those with a price ({tiers}), or choose the pricing mode "
    f"{modes.PER_REQUEST.name}."
)


class MediaModelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {"name": validation.name}
    default_plan = forms.ModelChoiceField(
        Plan.objects.order_by("name"), help_text="Applies to keys that have not chosen another plan for this model."
    )
    aliases = LinesField(required=False, help_text="Other names, unique within the modality.")
    prices = AmountsField(help_text=PRICES)

    class Meta:
        model = MediaModel
        fields = ("name", "modality", "default_plan", "pricing_mode", "enabled")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        row = self.instance
        stored: Mapping[str, Any] = row.params or {}
        if row.pk:
            del self.fields["modality"]
            self.initial.update(aliases=naming.aliases(row), prices=row.prices)
        self.hidden = param_forms.others(row.modality, stored) if row.pk else {}
        self.params = param_forms.build(row.modality if row.pk else "")
        for declared in self.params:
            self.fields.update(declared.made())
        self.initial.update(param_forms.initial(row.modality, stored) if row.pk else {})
        if self.hidden:
            self.fields[DROP] = param_forms.drops(self.hidden)

    def clean_aliases(self) -> list[str]:
        try:
            return each(validation.name)(self.cleaned_data["aliases"])
        except Invalid as error:
            raise forms.ValidationError([told(problem) for problem in error.problems]) from None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        modality = cleaned.get("modality") or self.instance.modality
        self.apply("pricing_mode", partial(validation.pricing_mode, modality=modality))
        mode = cleaned.get("pricing_mode") or ""
        self.apply("prices", partial(validation.prices, mode=mode))
        self.instance.prices = cleaned.get("prices") or {}
        self._read_params(modality, mode)
        self._check_names(modality)
        return cleaned

    def _read_params(self, modality: str, mode: str) -> None:
        """Set the row's `params` from the fields, and keep hidden ones that are not dropped."""
        cleaned = self.cleaned_data
        kept = {name: value for name, value in self.hidden.items() if name not in cleaned.get(DROP, ())}
        given: dict[str, Any] = {}
        for fields in self.params:
            if (value := fields.written(cleaned)) is None:
                continue
            if fields.modality != modality:
                self.add_error(fields.names[0], f"A {modality} model has no {fields.param}: leave it empty.")
            given |= {fields.param: self._read(fields, value)}
        self.instance.params = kept | given
        if not self.errors and param_forms.lacks_tiers(mode, given, kept):
            tiers = ", ".join(cleaned.get("prices") or ())
            self.add_error("image_size_values", NO_TIERS.format(tiers=tiers or "1K"))

    def _read(self, fields: ParamFields, value: dict[str, Any]) -> dict[str, Any]:
        try:
            return fields.bound.read(value)
        except Invalid as error:
            for path, reason in error.problems:
                name = fields.field_of(path)
                if name not in self.errors:
                    self.add_error(name, reason)
        return value

    def _check_names(self, modality: str) -> None:
        name, aliases = self.cleaned_data.get("name"), self.cleaned_data.get("aliases")
        if name is None or aliases is None:
            return
        names = [name, *aliases]
        if len(set(names)) < len(names):
            self.add_error("aliases", "An alias must differ from the name and from the other aliases.")
        for taken in naming.taken(modality, names, besides=[self.instance.pk] if self.instance.pk else []):
            self.add_error("name" if taken == name else "aliases", f"{taken} already names another {modality} model.")
