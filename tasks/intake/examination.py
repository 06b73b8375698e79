"""Steps 4 to 6: the checks of a submission that need no lock, from its fields to its price, in the contract's order."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from adapters.base import TaskRequest
from adapters.expression import NO_RULES
from billing import modes
from billing.modes import Mode
from billing.pricing import Price
from catalog import model_params, prices, routing, snapshot
from catalog.entries import ModelEntry, PlanEntry
from catalog.routing import Decision, Survey
from catalog.runnable import bounds
from catalog.snapshot import Catalog
from common.errors import ApiError, PricingUnavailable
from tasks.assets import assets, inputs, referred, uploads
from tasks.intake.drafts import PreparedSubmission
from tasks.request import body, images, params, url_policy
from tasks.request.fields import refuse
from tasks.request.params import ParamParser
from tasks.request.values import ParamRules


@dataclass(frozen=True, slots=True, kw_only=True)
class IntakeTerms:
    """What submissions of a model under a plan are checked and priced by, worked out once for each of a snapshot.

    `most_images` may be made by one request. `unit_micros` are the prices of a unit by tier; empty where no request of
    the model can be priced.
    """

    bounds: Mapping[str, Any]
    parser: ParamParser
    mode: Mode | None
    most_images: int
    unit_micros: Mapping[str, int]


def terms(catalog: Catalog, model: ModelEntry, plan: PlanEntry) -> IntakeTerms:
    key = (plan.id, model.id)
    found: IntakeTerms | None = catalog.terms.get(key)
    if found is None:
        found = catalog.terms[key] = _terms(bounds.of_submissions(catalog, model, plan), model, plan)
    return found


def _terms(found: bounds.Bounds, model: ModelEntry, plan: PlanEntry) -> IntakeTerms:
    return IntakeTerms(
        bounds=found,
        parser=params.parser(model.modality, found),
        mode=modes.find(model.pricing_mode),
        most_images=model_params.most_images_made(model.params),
        unit_micros=prices.effective(model, plan) if prices.can_price(model) else {},
    )


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
        resolved = routing.resolve(catalog, key_id, submitted.model, submitted.modality)
        agreed = terms(catalog, resolved.model, resolved.plan)
        rules = ParamRules(
            bounds=agreed.bounds,
            urls=policy,
            own_asset=partial(assets.own_asset, key_id),
            in_storage=assets.in_storage,
            upload_url=uploads.example,
            referred=partial(referred.find, key_id),
        )
        request = agreed.parser.parse(submitted.params, model_name=submitted.model, rules=rules)
        request = request if mask is None else _masked(request, mask, rules)
    except ApiError as error:
        return Examination(outcome=error)
    judged = inputs.judged(request) if request.images else request
    asked = images.rules_of_options(rules) if request.extra_body or request.provider_options else NO_RULES
    survey = routing.survey(resolved, judged, inputs=asked)
    try:
        decision = routing.decide(survey)
        price = priced(agreed, decision, request)
    except ApiError as error:
        return Examination(request=request, survey=survey, outcome=error)
    prepared = PreparedSubmission(body=submitted, model=resolved.model, request=request, decision=decision, price=price)
    return Examination(request=request, survey=survey, outcome=prepared)


def _masked(request: TaskRequest, mask: object, rules: ParamRules) -> TaskRequest:
    """Raises InvalidRequest."""
    if not request.images:
        refuse(images.MASK, "needs an image of which it is the mask")
    return replace(request, mask=images.mask(mask, rules))


def priced(agreed: IntakeTerms, decision: Decision, request: TaskRequest) -> Price:
    """What a request that is routed costs, if its model makes that many files. Only the adapter knows the final number
    of images: `extra_body` may hold it anywhere. Raises InvalidRequest and PricingUnavailable."""
    billed, most = decision.billed, agreed.most_images
    if request.modality == "image" and billed.count > most:
        refuse(billed.count_field, f"must be at most {most}; {billed.count} images would be made")
    return price_of(agreed, decision, request)


def price_of(agreed: IntakeTerms, decision: Decision, request: TaskRequest) -> Price:
    """The frozen price: unit price of the final tier under the plan, times the units of the model's pricing mode."""
    billed, mode = decision.billed, agreed.mode
    tier = mode.tier(billed.tier) if mode else None
    unit = mode.price_at(agreed.unit_micros, tier) if mode and tier else None
    if mode is None or tier is None or unit is None:
        raise PricingUnavailable(
            f"No price is configured for {tier or 'the requested size'} of this model.", headers={"Retry-After": "300"}
        )
    return Price.asked(mode, tier=tier, unit_micros=unit, billed=billed, seconds=request.duration)
