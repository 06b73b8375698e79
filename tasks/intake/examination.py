"""Steps 3 to 5: the checks of a submission that need no lock, from its fields to its price, in the contract's order."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from adapters.base import TaskRequest
from billing import modes
from billing.pricing import Price
from catalog import model_params, prices, routing, snapshot
from catalog.entries import ModelEntry
from catalog.routing import Decision, Survey
from catalog.runnable import bounds
from catalog.snapshot import Catalog
from common.errors import ApiError, PricingUnavailable
from tasks.assets import assets, inputs, referred, uploads
from tasks.intake.drafts import PreparedSubmission
from tasks.request import body, images, params, url_policy
from tasks.request.fields import refuse
from tasks.request.values import ParamRules


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What the checks found. What they did not reach is None; `outcome` may be the error that stopped them."""

    request: TaskRequest | None = None
    survey: Survey | None = None
    outcome: PreparedSubmission | ApiError


def prepare(key_id: int, document: dict[str, Any], *, catalog_version: int, mask: object = None) -> PreparedSubmission:
    """The submission, if it passes every check. Raises the ApiError of the first that fails."""
    outcome = examine(key_id, document, snapshot.current(catalog_version), mask=mask).outcome
    if isinstance(outcome, ApiError):
        raise outcome
    return outcome


def examine(key_id: int, document: dict[str, Any], catalog: Catalog, *, mask: object = None) -> Examination:
    """Check what this key submits until an error stops it. Nothing is stored or sent.

    `mask` is that of an edit, {"image_url": URL or Data URL}: no field of `params`, so its refusals name `mask`.
    """
    try:
        policy = url_policy.current()
        submitted = body.parse(document, policy)
        model = routing.resolve(catalog, key_id, submitted.model, submitted.modality)
        rules = ParamRules(
            bounds=bounds.for_key(catalog, key_id, model),
            urls=policy,
            own_asset=partial(assets.own_asset, key_id),
            in_storage=assets.in_storage,
            upload_url=uploads.example,
            referred=partial(referred.find, key_id),
        )
        request = params.parse(model.modality, submitted.params, model_name=submitted.model, rules=rules)
        request = request if mask is None else _masked(request, mask, rules)
    except ApiError as error:
        return Examination(outcome=error)
    judged, asked = inputs.judged(request), images.rules_of_options(rules)
    survey = routing.survey(catalog, key_id=key_id, model=model, request=judged, inputs=asked)
    try:
        decision = routing.decide(survey)
        price = priced(model, decision, request)
    except ApiError as error:
        return Examination(request=request, survey=survey, outcome=error)
    prepared = PreparedSubmission(body=submitted, model=model, request=request, decision=decision, price=price)
    return Examination(request=request, survey=survey, outcome=prepared)


def _masked(request: TaskRequest, mask: object, rules: ParamRules) -> TaskRequest:
    """Raises InvalidRequest."""
    if not request.images:
        refuse(images.MASK, "needs an image of which it is the mask")
    return replace(request, mask=images.mask(mask, rules))


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
