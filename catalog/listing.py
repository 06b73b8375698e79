"""Lists what a key can run now, at its own prices; `tasks_api/model_list.py` makes the JSON of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from catalog import prices
from catalog.entries import ModelEntry, PlanEntry, RouteEntry
from catalog.routing import is_served
from catalog.snapshot import Catalog
from common import modalities


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model as one key gets it: `prices` in micro-USD per `unit` by tier, `routes` the usable ones by priority."""

    model: ModelEntry
    plan: PlanEntry
    is_selected: bool
    unit: str
    prices: Mapping[str, int]
    routes: tuple[RouteEntry, ...]


def offers(catalog: Catalog, key_id: int) -> list[ModelOffer]:
    """The models that have a price and, in the key's effective plan, an enabled route of a registered adapter.

    By modality and name.
    """
    found = []
    for model in catalog.models():
        plan, is_selected = catalog.plan_for(key_id, model)
        routes = tuple(route for route in catalog.routes(plan.id, model.id) if is_served(route, model))
        if model.enabled and prices.can_price(model) and routes:
            found.append(
                ModelOffer(
                    model=model,
                    plan=plan,
                    is_selected=is_selected,
                    unit=modalities.UNITS[model.pricing_mode],
                    prices=prices.effective(model, plan),
                    routes=routes,
                )
            )
    return found
