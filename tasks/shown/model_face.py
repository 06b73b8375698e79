"""One model as `GET /v1/tasks/models` shows it to its clients, and the desk to its operators."""

from typing import Any

from catalog.listing import ModelOffer
from common.money import usd
from common.params import tables
from common.params.row import ParamKind
from tasks.request import schema
from tasks.shown import eta

BOUNDS = ("type", "enum", "minimum", "maximum", "minLength", "maxLength", "maxItems")


def shown(offer: ModelOffer) -> dict[str, Any]:
    """`params` is the catalog's object for images, as far as routes can express it; for video types and bounds only, no
    lists of supported lengths and sizes."""
    model = offer.model
    published = schema.params_schema(model.modality, offer.bounds, names=[model.name, *model.aliases])
    return {
        "id": model.name,
        "aliases": list(model.aliases),
        "modality": model.modality,
        "plan": {"name": offer.plan.name, "selected": offer.is_selected},
        "pricing": {
            "mode": model.pricing_mode,
            "currency": "USD",
            "unit": offer.unit,
            "prices": {tier: usd(micros) for tier, micros in offer.prices.items()},
        },
        "params": _listed(offer) if model.modality == "image" else _bounds(model.modality, published),
        "params_schema": published,
        "inputs": schema.inputs_summary(model.modality, offer.bounds),
        "eta_seconds": eta.usual(model.id),
    }


def _listed(offer: ModelOffer) -> dict[str, Any]:
    return {name: bound for name, bound in offer.bounds.items() if name in offer.model.params}


def _bounds(modality: str, published: dict[str, Any]) -> dict[str, Any]:
    rules = published["properties"] | _types(modality)
    return {name: {word: rule[word] for word in BOUNDS if word in rule} for name, rule in rules.items()}


def _types(modality: str) -> dict[str, dict[str, Any]]:
    """The types of fields whose rules in the schema are no single type."""
    options = (row.name for row in tables.TABLES[modality].rows if row.kind is ParamKind.OPTIONS)
    return {"model": {"type": ["string", "null"]}, **{name: {"type": ["object", "null"]} for name in options}}
