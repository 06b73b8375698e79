"""Forms of a group of general keys: its offer, and the channels that serve it, without JSON."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from django import forms

from catalog import groups, offer_rules, validation
from catalog.fields import each
from catalog.models import Channel, GroupChannel, GroupOffer
from catalog.ruled_form import RuledForm
from desk.groups_page.price_fields import (
    LongContextsField,
    PicturePricesField,
    TokenPricesField,
    ToolPricesField,
    check_names,
)
from desk.kit.rows import LinesField, Row, RowColumn, RowsField
from pages.admin_pages import KnownRows

PRICES = (
    "USD per million tokens by name pattern; the longest match applies. * and ? match anything but : @ #. Without "
    "their own price, cached input, cache writes and images cost as much as input and output; audio and one-hour "
    "caches are not sold."
)
LONG = "Price of all tokens of a call with more input than this. An empty price rises like that of input or output."
PICTURES = "Prices of the Images API, in place of token prices. Without a size, the price applies to every image."
TOOLS = "Tools that the provider runs, by the provider's name. A tool without a price is refused."
LONG_KEY = "long_context"
LISTINGS = (("all", "every model that the providers list and that has a price"), ("these", "only these"))


class NamesField(RowsField):
    """Field of the provider's model names by public name."""

    columns = (
        RowColumn(name="public", label="Public name", placeholder="gpt-5.2"),
        RowColumn(name="upstream", label="Provider's name", placeholder="vendor/gpt-5.2"),
    )
    add = "Add a name"

    def rows_of(self, value: Any) -> list[Row]:
        return [(public, str(name)) for public, name in value.items()] if isinstance(value, Mapping) else value or []

    def read(self, rows: list[Row]) -> dict[str, str]:
        check_names(rows, "public name")
        return dict(rows)  # type: ignore[arg-type]


class GroupOfferForm(RuledForm):
    rules: ClassVar[dict[str, Callable[[Any], Any]]] = {
        "models_listed": each(validation.name),
        "prices": offer_rules.token_prices,
        "image_prices": offer_rules.image_prices,
        "tool_prices": offer_rules.tool_prices,
        "extra_fields": validation.extra_fields,
        "extra_betas": offer_rules.extra_betas,
    }
    prices = TokenPricesField(required=False, help_text=PRICES)
    long_contexts = LongContextsField(required=False, label="Prices of long contexts", help_text=LONG)
    image_prices = PicturePricesField(required=False, label="Prices of pictures", help_text=PICTURES)
    tool_prices = ToolPricesField(required=False, label="Prices of tools", help_text=TOOLS)
    listing = forms.ChoiceField(choices=LISTINGS, widget=forms.RadioSelect, label="Model lists show", initial="all")
    models_listed = LinesField(required=False, label="Listed models")
    extra_fields = LinesField(
        required=False,
        label="Further fields that pass",
        help_text="They may change the cost in ways that have no price, such as service_tier.",
    )
    extra_betas = LinesField(
        required=False,
        label="Further values of anthropic-beta that pass",
        help_text="Values that are known to change cost or state pass only if they are listed here.",
    )

    class Meta:
        model = GroupOffer
        fields = ("prices", "image_prices", "tool_prices", "models_listed", "extra_fields", "extra_betas")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["listing"] = "all" if self.instance.models_listed is None else "these"
        stored = self.instance.prices.items()
        self.initial["long_contexts"] = {name: price[LONG_KEY] for name, price in stored if LONG_KEY in price}

    def clean(self) -> dict[str, Any]:
        self._take_long_contexts()
        cleaned = super().clean()
        if cleaned.get("listing") == "all" and cleaned.get("models_listed"):
            self.add_error("models_listed", "Choose “only these” above, or clear this list.")
        elif cleaned.get("listing") == "all":
            cleaned["models_listed"] = None
        return cleaned

    def _take_long_contexts(self) -> None:
        """Merge them into the prices, whose rule validates them."""
        prices = self.cleaned_data.get("prices")
        for pattern, long in (self.cleaned_data.get("long_contexts") or {}).items():
            if prices is None:
                return
            if pattern in prices:
                prices[pattern][LONG_KEY] = long
            else:
                self.add_error("long_contexts", f"{pattern}: is not a pattern of the prices above.")


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
        label="Also speaks",
        help_text="In addition to its platform's dialect.",
    )
    upstream_models = NamesField(required=False, label="Provider's model names")

    class Meta:
        model = GroupChannel
        fields = ("channel", "priority", "weight", "dialects", "upstream_models", "enabled")


class GroupChannelFormSet(KnownRows, forms.BaseInlineFormSet):  # type: ignore[type-arg]
    """Formset of a group's channels, checked against the platform that the same page may change."""

    def clean(self) -> None:
        super().clean()
        wanted = groups.adapter(self.instance.platform)
        for form in self.forms:
            channel = form.cleaned_data.get("channel") if form.is_valid() else None
            if channel is not None and channel.adapter != wanted and not form.cleaned_data.get("DELETE"):
                form.add_error("channel", f"Its adapter is {channel.adapter}; this group needs {wanted}.")
