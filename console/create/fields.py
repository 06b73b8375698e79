"""The form of one model: its widgets in an order fixed by modality, with what is suggested where texts are free."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.modes import ANY_TIER
from catalog.listing import ModelOffer
from console.create import choosing, widgets
from console.create.widgets import Choice, Widget
from tasks.request import schema

ORDER = {
    "image": ("prompt", "images", "aspect_ratio", "image_size", "n"),
    "video": ("prompt", "inputs", "aspect_ratio", "resolution", "duration", "generate_audio"),
    "3d": ("prompt", "inputs", "output_format"),
}
RATIOS = ("16:9", "9:16", "1:1", "4:3", "3:4", "21:9")
RESOLUTIONS = ("480p", "720p", "1080p")
SECONDS = 5
MORE = (
    Widget(
        kind="url",
        path="callback_url",
        label="Callback URL",
        help="The finished task is posted to it, signed with your key's secret.",
    ),
    Widget(
        kind="json",
        path="metadata",
        label="Metadata",
        help='Your own words, kept with the task: {"order": "1234"}',
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelForm:
    """`main` stands open, `more` under a summary. `first` is what an empty form begins with, as a browser posts it."""

    model: str
    modality: str
    main: tuple[Widget, ...]
    more: tuple[Widget, ...]
    first: Mapping[str, list[str]]

    @property
    def widgets(self) -> tuple[Widget, ...]:
        return (*self.main, *self.more)


def of(offer: ModelOffer) -> ModelForm:
    """The form of a model that a key can run."""
    model = offer.model
    published = schema.params_schema(model.modality, offer.bounds, names=[model.name, *model.aliases])
    suggested = _suggested(offer) if model.modality == "video" else {}
    return made(model.name, model.modality, published, suggested)


def made(
    model: str, modality: str, published: Mapping[str, Any], suggested: Mapping[str, tuple[str, ...]]
) -> ModelForm:
    """The form of any schema of params; `suggested` are values of free texts, the first one to begin with."""
    rules, required = published.get("properties", {}), published.get("required", ())
    order = ORDER.get(modality, ("prompt",))
    names = [*(name for name in order if name in rules), *sorted(rules.keys() - set(order) - {"model"})]
    drawn = {name: choosing.of_field(name, rules[name], is_required=name in required) for name in names}
    kept = {name: _suggesting(widget, suggested.get(name, ())) for name, widget in drawn.items() if widget}
    main = tuple(widget for name, widget in kept.items() if name in order and widget.kind != "json")
    more = tuple(widget for widget in kept.values() if widget not in main)
    return ModelForm(model=model, modality=modality, main=main, more=(*more, *MORE), first=_first(kept))


def _suggesting(widget: Widget, values: tuple[str, ...]) -> Widget:
    if not values or widget.kind != "text":
        return widget
    choices = tuple(Choice(value=value, label=value, shape=widgets.shape_of(value)) for value in values)
    return replace(widget, kind="tiles", choices=choices, is_free=True)


def _suggested(offer: ModelOffer) -> dict[str, tuple[str, ...]]:
    """Which resolutions a film may have nobody says; those that have a price are sure to be meant."""
    priced = sorted(offer.prices.keys() - {ANY_TIER}, key=lambda tier: offer.prices[tier])
    others = RESOLUTIONS if ANY_TIER in offer.prices else ()
    return {"aspect_ratio": RATIOS, "resolution": tuple(dict.fromkeys((*priced, *others)))}


def _first(kept: Mapping[str, Widget]) -> dict[str, list[str]]:
    found = {widget.path: _begin(name, widget) for name, widget in kept.items()}
    return {path: [text] for path, text in found.items() if text is not None}


def _begin(name: str, widget: Widget) -> str | None:
    values = [choice.value for choice in widget.choices]
    if widget.default is not None and widget.kind in ("tiles", "select"):
        return str(values.index(widget.default)) if widget.default in values else None
    if widget.choices:
        return "0" if widget.is_required else ""
    if widget.kind == "number" and (widget.default is not None or widget.is_required):
        return str(widget.default or (SECONDS if name == "duration" else widget.low or ""))
    return None
