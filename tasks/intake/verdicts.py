"""Step 5: the price of a request that is routed."""

from adapters.base import TaskRequest
from billing import modes
from billing.pricing import Price
from catalog import model_params, prices
from catalog.entries import ModelEntry
from catalog.routing import Decision
from common.errors import PricingUnavailable
from tasks.request.fields import refuse


def priced(model: ModelEntry, decision: Decision, request: TaskRequest) -> Price:
    """What a request that is routed costs, if its model makes that many files. Raises InvalidRequest and
    PricingUnavailable."""
    _refuse_count(model, decision)
    return price_of(model, decision, request)


def _refuse_count(model: ModelEntry, decision: Decision) -> None:
    """Only the adapter knows the final number of images: `extra_body` may hold it anywhere. Raises InvalidRequest."""
    billed, most = decision.billed, model_params.most_images_made(model.params)
    if model.modality == "image" and billed.count > most:
        refuse(billed.count_field, f"must be at most {most}; {billed.count} images would be made")


def price_of(model: ModelEntry, decision: Decision, request: TaskRequest) -> Price:
    """The frozen price: unit price of the final tier under the plan, times the units of the model's pricing mode."""
    mode = modes.find(model.pricing_mode)
    tier = mode.tier(decision.billed.tier) if mode else None
    unit = prices.unit_micros(model, decision.plan, tier) if tier else None
    if mode is None or tier is None or unit is None:
        raise PricingUnavailable(
            f"No price is configured for {tier or 'the requested size'} of this model.", headers={"Retry-After": "300"}
        )
    return Price.asked(mode, tier=tier, unit_micros=unit, billed=decision.billed, seconds=request.duration)
