"""The forms of a group of general keys: what it is offered, and the channels that serve it. No JSON is typed."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms

from catalog import groups, validation
from catalog.fields import each
from catalog.models import Channel, GroupChannel, GroupOffer
from catalog.ruled_form import RuledForm
from catalog.token_prices import AMOUNTS
from desk.rows import AmountsField, Column, LinesField, Row, RowsField
from pages.admin_pages import KnownRows

PRICES = (
    "USD per million tokens by pattern of names; the longest that fits holds. Cached input, written cache and pictures "
    "cost what input and output do where nothing is said."
)
LISTINGS = (("all", "every model that the providers list and that has a price"), ("these", "these alone"))
LABELS = {"max_output_tokens": "Most output tokens"}


class TokenPricesField(RowsField):
    """A price of tokens for each pattern."""

    names = (*AMOUNTS, "max_output_tokens")
    columns = (
        Column(name="pattern", label="Pattern", placeholder="gpt-*"),
        *(
            Column(name=name, label=LABELS.get(name, name.replace("_", " ").capitalize()), mode="decimal")
            for name in names
        ),
    )
    add = "Add a pattern"

    def rows_of(self, value: Any) -> list[Row]:
        if not isinstance(value, Mapping):
            return list(value or [])
        return [(pattern, *(str(price.get(name, "")) for name in self.names)) for pattern, price in value.items()]

    def read(self, rows: list[Row]) -> dict[str, Any]:
        _check_names(rows, "pattern")
        return {pattern: self._price(cells) for pattern, *cells in rows}

    def _price(self, cells: list[str]) -> dict[str, Any]:
        found: dict[str, Any] = {name: cell for name, cell in zip(self.names, cells, strict=True) if cell}
        if found.get("max_output_tokens", "").isdecimal():
            found["max_output_tokens"] = int(found["max_output_tokens"][:18])
        return found


class PicturePricesField(AmountsField):
    """USD for one picture by pattern."""

    columns = (
        Column(name="pattern", label="Pattern", placeholder="gpt-image-*"),
        Column(name="usd", label="USD for a picture", placeholder="0.04", mode="decimal"),
    )
    add = "Add a pattern"


class NamesField(RowsField):
    """Names that models have at the provider, by their public ones."""

    columns = (
        Column(name="public", label="Public name", placeholder="gpt-5.2"),
        Column(name="upstream", label="Name there", placeholder="vendor/gpt-5.2"),
    )
    add = "Add a name"

    def rows_of(self, value: Any) -> list[Row]:
        return [(public, str(name)) for public, name in value.items()] if isinstance(value, Mapping) else value or []

    def read(self, rows: list[Row]) -> dict[str, str]:
        _check_names(rows, "public name")
        return dict(rows)  # type: ignore[arg-type]


def _check_names(rows: list[Row], what: str) -> None:
    names = [row[0] for row in rows]
    problems = [f"{name}: is there twice." for name in dict.fromkeys(names) if name and names.count(name) > 1]
    problems += [f"{', '.join(filter(None, row))}: enter the {what} that this is for." for row in rows if not row[0]]
    if problems:
        raise forms.ValidationError(problems)


class GroupOfferForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "models_listed": each(validation.name),
        "prices": validation.token_prices,
        "image_prices": validation.image_prices,
        "extra_fields": validation.extra_fields,
    }
    prices = TokenPricesField(required=False, help_text=PRICES)
    image_prices = PicturePricesField(
        required=False,
        label="Prices of pictures",
        help_text="Of the Images API; where one holds, no token counts.",
    )
    listing = forms.ChoiceField(choices=LISTINGS, widget=forms.RadioSelect, label="Lists of models show", initial="all")
    models_listed = LinesField(required=False, label="Models that are listed")
    extra_fields = LinesField(
        required=False,
        label="Further fields that pass",
        help_text="Though they may cost what the prices do not know, such as tools.",
    )

    class Meta:
        model = GroupOffer
        fields = ("prices", "image_prices", "models_listed", "extra_fields")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["listing"] = "all" if self.instance.models_listed is None else "these"

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("listing") == "all" and cleaned.get("models_listed"):
            self.add_error("models_listed", "Choose “these alone” above, or empty these.")
        elif cleaned.get("listing") == "all":
            cleaned["models_listed"] = None
        return cleaned


class GroupChannelForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "dialects": validation.dialects,
        "upstream_models": validation.upstream_models,
    }
    channel = forms.ModelChoiceField(
        Channel.objects.filter(adapter__in=map(groups.adapter, validation.PLATFORMS)).order_by("name")
    )
    dialects = forms.MultipleChoiceField(
        required=False,
        choices=[(name, name.replace("_", " ")) for name in validation.DIALECTS],
        widget=forms.CheckboxSelectMultiple,
        label="Speaks also",
        help_text="Beside what its platform speaks.",
    )
    upstream_models = NamesField(required=False, label="Other names there")

    class Meta:
        model = GroupChannel
        fields = ("channel", "priority", "weight", "dialects", "upstream_models", "enabled")


class GroupChannelFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """The channels of a group, whose platform the same page may change."""

    def clean(self) -> None:
        super().clean()
        wanted = groups.adapter(self.instance.platform)
        for form in self.forms:
            channel = form.cleaned_data.get("channel") if form.is_valid() else None
            if channel is not None and channel.adapter != wanted and not form.cleaned_data.get("DELETE"):
                form.add_error("channel", f"Its adapter is {channel.adapter}; this group's channels have {wanted}.")
