"""Says which values an image model lists in vain: requests with them run under no plan."""

from collections.abc import Iterator, Sequence

from catalog import prices, routing
from catalog.entries import ModelEntry
from catalog.model_params import IMAGE_CHOICES, IMAGE_COUNTS, most_of, tier_param
from catalog.runnable import bounds
from catalog.runnable.bounds import Bounds
from catalog.snapshot import Catalog


def problems(catalog: Catalog, model: ModelEntry) -> Iterator[str]:
    """One sentence per problem; none of a model without a price or a route, of which others speak."""
    if model.modality != "image" or not prices.can_price(model):
        return
    plans = [plan for plan in catalog.plans() if _is_served(catalog, model, plan.id)]
    found = [each for plan in plans if (each := bounds.of(catalog, model, plan)) is not None]
    if found:
        yield from _in_vain(model, found)
    elif plans:
        yield f"image model {model.name} is not offered: no route can express a priced request of its params"


def _is_served(catalog: Catalog, model: ModelEntry, plan_id: int) -> bool:
    return any(routing.is_served(route, model) for route in catalog.routes(plan_id, model.id))


def _in_vain(model: ModelEntry, found: Sequence[Bounds]) -> Iterator[str]:
    for name in IMAGE_CHOICES:
        if values := _unexpressed(model, name, found):
            yield f"image model {model.name} lists {name} {', '.join(values)}, which no route can express"
    for name in IMAGE_COUNTS:
        listed, able = most_of(name, model.params), max(most_of(name, each) for each in found)
        if listed > able:
            yield f"image model {model.name} lists {name} up to {listed}; no route can express more than {able}"


def _unexpressed(model: ModelEntry, name: str, found: Sequence[Bounds]) -> list[str]:
    """Without the tiers that have no price."""
    is_priced = name == tier_param(model.pricing_mode)
    able = {value for each in found for value in _values(each, name)}
    values = [value for value in _values(model.params, name) if value not in able]
    return [value for value in values if not is_priced or value in model.prices]


def _values(listed: Bounds, name: str) -> Sequence[str]:
    values: Sequence[str] = (listed.get(name) or {}).get("values") or ()
    return values
