"""What one unit of a model costs under a plan. How many units a task buys is not decided here."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from billing import modes
from catalog import model_params
from catalog.entries import ModelEntry, PlanEntry, RouteEntry
from common import money


def unit_micros(model: ModelEntry, plan: PlanEntry, tier: str | None) -> int | None:
    """Micro-USD per unit of the model's pricing mode, rounded half-up once, of a request that buys this image tier or
    resolution; None where no price is configured."""
    price = _price(model, tier) if can_price(model) else None
    return None if price is None else money.times(price, plan.price_multiplier)


def can_price(model: ModelEntry) -> bool:
    """Whether any request can be priced; a model for which this does not hold is not on offer. False for a pricing mode
    of another version."""
    is_known = modes.find(model.pricing_mode) is not None
    return is_known and bool(model.prices) and not model_params.lacks_tiers(model.pricing_mode, model.params)


def effective(model: ModelEntry, plan: PlanEntry) -> dict[str, int]:
    """All prices of the model under the plan, in micro-USD by tier."""
    return {tier: money.times(price, plan.price_multiplier) for tier, price in model.prices.items()}


def own_cost_micros(route: RouteEntry, tier: str, units: float) -> int | None:
    """Micro-USD that so many units of a tier cost the operator on a route, where the catalog knows; never billed."""
    return cost_micros(route.cost, tier, units)


def cost_micros(costs: Mapping[str, Decimal], tier: str, units: float = 1) -> int | None:
    """The same of a channel model's costs, in USD by tier."""
    cost = modes.by_resolution(costs, tier)
    return None if cost is None else money.micros(cost * Decimal(str(units)))


def exact(amounts: Mapping[str, Any] | None) -> dict[str, Decimal]:
    """Stored prices or costs, which are text, as numbers by tier."""
    return {tier: Decimal(str(usd)) for tier, usd in (amounts or {}).items()}


def _price(model: ModelEntry, bought: str | None) -> Decimal | None:
    mode = modes.get(model.pricing_mode)
    tier = mode.tier(bought)
    return None if tier is None else mode.price_at(model.prices, tier)
