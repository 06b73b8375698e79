"""The `params` of a model in the catalog: which values of the params fields its requests may have.

Which fields have any, `common/params/` declares; the catalog file reads its rules from here, and the admin its form.
An image model that is priced by tier must offer tiers.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from billing import modes
from catalog.fields import FieldReader, Invalid, each, integer, whole
from catalog.validation import text
from common.params import tables
from common.params.row import Param, ParamKind


def choice(value: object) -> dict[str, Any]:
    """{"values": [text, …], "default": one of them}; without a default a request must choose."""

    def read(fields: FieldReader) -> dict[str, Any]:
        values, default = fields.need("values", each(text(20))), fields.take("default", text(20), None)
        if values is not None and (not values or len(set(values)) < len(values)):
            fields.problems.append(("values", "must be different texts, one at least"))
        if values and default and default not in values:
            fields.problems.append(("default", "must be one of the values"))
        return {"values": values} | ({"default": default} if default else {})

    return whole(value, read)


def at_most(minimum: int, most: int) -> Callable[[Any], dict[str, int]]:
    """The rule for {"max": integer}."""
    return lambda value: whole(value, lambda fields: {"max": fields.need("max", integer(minimum, most))})


CHOICE, MOST = "choice", "most"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParamBound:
    """What the catalog says of one field. `kind` is its shape: CHOICE is {"values", "default"}, MOST is {"max"}.

    `about` tells an operator what it is for.
    """

    kind: str
    read: Callable[[Any], dict[str, Any]]
    about: str


def _bound(row: Param) -> ParamBound:
    if row.kind is ParamKind.CHOICE:
        return ParamBound(kind=CHOICE, read=choice, about=row.bound_help)
    if row.most is None:
        raise TypeError(f"{row.name} has no bound that a catalog could lower")
    return ParamBound(kind=MOST, read=at_most(row.least, row.most), about=row.bound_help)


def _rules(modality: str) -> Mapping[str, ParamBound]:
    """The fields that the catalog lists, the choices first."""
    found = {row.name: _bound(row) for row in tables.TABLES[modality].rows if row.bound_help}
    if found and modality != "image":
        raise TypeError(f"only image models have bounds in the catalog so far, and not {', '.join(found)}")
    return dict(sorted(found.items(), key=lambda item: item[1].kind != CHOICE))


RULES: Mapping[str, Mapping[str, ParamBound]] = {
    modality: rules for modality in tables.TABLES if (rules := _rules(modality))
}
IMAGE = RULES["image"]
IMAGE_CHOICES = tuple(name for name, bound in IMAGE.items() if bound.kind == CHOICE)
IMAGE_COUNTS = tuple(name for name, bound in IMAGE.items() if bound.kind == MOST)
COUNTED = {name: tables.TABLES["image"][name] for name in IMAGE_COUNTS}


def read(value: object, *, modality: str, pricing_mode: str | None, tiers: Iterable[str]) -> dict[str, Any]:
    """The bounds as they are stored, each optional but for a tier that prices need; `tiers` are those with a price.

    Raises Invalid, also for a modality that has none.
    """
    rules = RULES.get(modality, {})
    parts = whole(value, lambda fields: {name: fields.take(name, rule.read, None) for name, rule in rules.items()})
    bounds = {name: part for name, part in parts.items() if part is not None}
    if lacks_tiers(pricing_mode, bounds):
        missing = tier_param(pricing_mode) or ""
        raise Invalid(problems=[(missing, f"is required with {pricing_mode}: {what_offers(tiers)}")])
    return bounds


def tier_param(pricing_mode: str | None) -> str | None:
    """The field of params whose values are the price tiers; None where a model need not list any."""
    mode = modes.find(pricing_mode)
    return mode.tier_param if mode else None


def listed_tiers(pricing_mode: str | None, bounds: Mapping[str, Any]) -> list[str]:
    """The price tiers that requests may ask for; none where a model need not list any."""
    name = tier_param(pricing_mode)
    bound: Mapping[str, Any] = (name and bounds.get(name)) or {}
    return list(bound.get("values") or ())


def lacks_tiers(pricing_mode: str | None, bounds: Mapping[str, Any]) -> bool:
    """Whether a model's requests are priced by their tier, and can choose none."""
    return tier_param(pricing_mode) is not None and not listed_tiers(pricing_mode, bounds)


def what_offers(tiers: Iterable[str]) -> str:
    """What to do about missing tiers, in words."""
    names = [json.dumps(tier, ensure_ascii=False) for tier in tiers] or ['"1K"']
    example = f"image_size: {{values: [{', '.join(names)}], default: {names[0]}}}"
    return f"add {example} to its params, or price it by the mode {modes.PER_REQUEST.name}"


def most_of(name: str, bounds: Mapping[str, Any]) -> int:
    """The most that one request of an image model may say in a field of IMAGE_COUNTS, or have in it as a list."""
    return COUNTED[name].most_of(bounds) or 0


def most_images_made(bounds: Mapping[str, Any]) -> int:
    """How many images one request of an image model may have made."""
    return most_of("n", bounds)


def most_images_taken(bounds: Mapping[str, Any]) -> int:
    """How many reference images one request of an image model may have."""
    return most_of("images", bounds)
