"""Lists what a key can run now, at its own prices; `tasks/shown/model_face.py` makes the JSON of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from billing import modes
from catalog import prices
from catalog.entries import ModelEntry, PlanEntry, RouteEntry
from catalog.routing import is_served
from catalog.runnable import bounds
from catalog.runnable.bounds import Bounds
from catalog.snapshot import Catalog


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOffer:
    """A model as one key gets it: `prices` in micro-USD per `unit` by tier, `routes` the usable ones by priority, and
    `bounds` what these can express."""

    model: ModelEntry
    plan: PlanEntry
    is_selected: bool
    unit: str
    prices: Mapping[str, int]
    routes: tuple[RouteEntry, ...]
    bounds: Bounds


def offers(catalog: Catalog, key_id: int) -> list[ModelOffer]:
    """The models of which a request has a price and, in the key's effective plan, an enabled route that can run it.

    By modality and name.
    """
    found = [offer_of(catalog, model, *catalog.plan_for(key_id, model)) for model in catalog.models()]
    return [offer for offer in found if offer is not None]


def offer_of(catalog: Catalog, model: ModelEntry, plan: PlanEntry, is_selected: bool) -> ModelOffer | None:
    """The model under one plan; None where it is not on offer there."""
    routes = tuple(route for route in catalog.routes(plan.id, model.id) if is_served(route, model))
    if not (model.enabled and prices.can_price(model) and routes):
        return None
    found = bounds.of(catalog, model, plan)
    if found is None:
        return None
    return ModelOffer(
        model=model,
        plan=plan,
        is_selected=is_selected,
        unit=modes.get(model.pricing_mode).noun,
        prices=prices.effective(model, plan),
        routes=routes,
        bounds=found,
    )
