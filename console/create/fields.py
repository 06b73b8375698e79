"""Form of one model: widgets in the order of `common/params/`, with suggestions for free texts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.modes import ANY_TIER
from catalog.listing import ModelOffer
from common.params import tables
from common.params.row import Param, ParamTable
from console.create import choosing, widgets
from console.create.widgets import Choice, Widget
from tasks.request import schema

MORE = (
    Widget(
        kind="url",
        path="callback_url",
        label="Callback URL",
        help="The finished task is posted here, signed with your key's secret.",
    ),
    Widget(
        kind="json",
        path="metadata",
        label="Metadata",
        help='Your own data, stored with the task: {"order": "1234"}',
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelForm:
    """Form of a model: `main` is visible, `more` is collapsed. `first` are the initial values, as a browser posts
    them."""

    model: str
    modality: str
    main: tuple[Widget, ...]
    more: tuple[Widget, ...]
    first: Mapping[str, list[str]]

    @property
    def widgets(self) -> tuple[Widget, ...]:
        return (*self.main, *self.more)


def build(offer: ModelOffer) -> ModelForm:
    """Build the form of a model that a key can run."""
    model = offer.model
    published = schema.params_schema(model.modality, offer.bounds, names=[model.name, *model.aliases])
    return made(model.name, model.modality, published, _suggested(offer))


def made(
    model: str, modality: str, published: Mapping[str, Any], suggested: Mapping[str, tuple[str, ...]]
) -> ModelForm:
    """Build the form of a params schema; `suggested` are values of free texts, the default first."""
    rules, required = published.get("properties", {}), published.get("required", ())
    table = tables.TABLES[modality]
    order = table.placed
    names = [*(name for name in order if name in rules), *sorted(rules.keys() - set(order) - {"model"})]
    drawn = {name: choosing.choose(name, rules[name], is_required=name in required) for name in names}
    kept = {name: _suggesting(widget, suggested.get(name, ())) for name, widget in drawn.items() if widget}
    main = tuple(widget for name, widget in kept.items() if name in order and widget.kind != "json")
    more = tuple(widget for widget in kept.values() if widget not in main)
    return ModelForm(model=model, modality=modality, main=main, more=(*more, *MORE), first=_first(kept, table))


def _suggesting(widget: Widget, values: tuple[str, ...]) -> Widget:
    if not values or widget.kind != "text":
        return widget
    choices = tuple(Choice(value=value, label=value, shape=widgets.shape_of(value)) for value in values)
    return replace(widget, kind="tiles", choices=choices, is_free=True)


def _suggested(offer: ModelOffer) -> dict[str, tuple[str, ...]]:
    """Collect suggestions; a video's resolutions are not declared, so priced ones come first."""
    suggested = {row.name: row.suggestions for row in tables.TABLES[offer.model.modality].rows}
    if "resolution" in suggested:
        priced = sorted(offer.prices.keys() - {ANY_TIER}, key=lambda tier: offer.prices[tier])
        others = suggested["resolution"] if ANY_TIER in offer.prices else ()
        suggested["resolution"] = tuple(dict.fromkeys((*priced, *others)))
    return suggested


def _first(kept: Mapping[str, Widget], table: ParamTable) -> dict[str, list[str]]:
    rows = {row.name: row for row in table.rows}
    found = {widget.path: _begin(widget, rows.get(name)) for name, widget in kept.items()}
    return {path: [text] for path, text in found.items() if text is not None}


def _begin(widget: Widget, row: Param | None) -> str | None:
    values = [choice.value for choice in widget.choices]
    if widget.default is not None and widget.kind in ("tiles", "select"):
        return str(values.index(widget.default)) if widget.default in values else None
    if widget.choices:
        return "0" if widget.is_required else ""
    if widget.kind == "number" and (widget.default is not None or widget.is_required):
        return str(widget.default or (row.example if row else widget.low) or "")
    return None
