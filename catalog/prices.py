"""What one unit of a model costs under a plan. How many units a task buys is not decided here."""

from collections.abc import Mapping
from decimal import Decimal

from catalog import model_params
from catalog.entries import ModelEntry, PlanEntry, RouteEntry
from common import money

ANY_TIER = "*"


def unit_micros(model: ModelEntry, plan: PlanEntry, tier: str | None) -> int | None:
    """Micro-USD per image, second or request, rounded half-up once; None where no price is configured.

    `tier` is the image tier or the video's resolution. An image tier must be priced itself; a resolution may fall back
    to "*"; a price per request knows only "*".
    """
    price = _price(model, tier) if can_price(model) else None
    return None if price is None else money.times(price, plan.price_multiplier)


def can_price(model: ModelEntry) -> bool:
    """Whether any request can be priced; a model for which this does not hold is not on offer."""
    return bool(model.prices) and not model_params.lacks_tiers(model.pricing_mode, model.params)


def effective(model: ModelEntry, plan: PlanEntry) -> dict[str, int]:
    """All prices of the model under the plan, in micro-USD by tier."""
    return {tier: money.times(price, plan.price_multiplier) for tier, price in model.prices.items()}


def own_cost_micros(route: RouteEntry, tier: str, units: float) -> int | None:
    """Micro-USD that so many units of a tier cost the operator on a route, where the catalog knows; never billed."""
    return cost_micros(route.cost, tier, units)


def cost_micros(costs: Mapping[str, Decimal], tier: str, units: float = 1) -> int | None:
    """The same of a channel model's costs, in USD by tier."""
    cost = _of_resolution(costs, tier)
    return None if cost is None else money.micros(cost * Decimal(str(units)))


def _price(model: ModelEntry, tier: str | None) -> Decimal | None:
    if model.pricing_mode == "per_request":
        return model.prices.get(ANY_TIER)
    if tier is None or model.pricing_mode == "image_matrix":
        return model.prices.get(tier or "")
    return _of_resolution(model.prices, tier)


def _of_resolution(amounts: Mapping[str, Decimal], tier: str) -> Decimal | None:
    """Also where it is spelled in other letters: some providers sell 720P as 720p."""
    spelled = {name.lower(): amount for name, amount in amounts.items()}
    return amounts.get(tier, spelled.get(tier.lower(), amounts.get(ANY_TIER)))
