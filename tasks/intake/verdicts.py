"""Steps 4 and 5: what becomes of a request whose fields are right: the routes that can run it, and its price.

Requests that differ in their prompts alone meet with the same verdict, where all adapters asked only limit prompts
(`adapters/base.py`). It is remembered with its picture of the catalog; but not for requests with media or options,
which seldom come again.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from operator import attrgetter
from typing import Any

from adapters import registry
from adapters.base import Adapter, TaskRequest
from adapters.fields import command_in
from billing import modes
from billing.pricing import Price
from catalog import model_params, prices, routing
from catalog.entries import ModelEntry, RouteEntry
from catalog.routing import Decision, Survey
from catalog.snapshot import Catalog
from common import sql
from common.errors import ApiError, PricingUnavailable
from tasks.request import images
from tasks.request.fields import refuse
from tasks.request.values import ParamRules

FREE = ("images", "inputs", "mask", "extra_body", "provider_options")
_free: Callable[[TaskRequest], tuple[Any, ...]] = attrgetter(*FREE)
_chosen: Callable[[TaskRequest], tuple[Hashable, ...]] = attrgetter(
    *(each.name for each in fields(TaskRequest) if each.name not in {"prompt", *FREE})
)


@dataclass(frozen=True, kw_only=True)
class Routed:
    """The routes that were kept, and the price."""

    decision: Decision
    price: Price

    def columns(self, asked: Mapping[str, str]) -> dict[str, Any]:
        """Its part of a draft's row. `asked` are words of the client, which the trace keeps."""
        trace = {"plan": self.decision.plan.name, "routes": self.decision.trace}
        return {
            "estimated": self.price.estimate_micros,
            "price": sql.document(self.price.snapshot()),
            "trace": sql.document({**trace, "asked": dict(asked)} if asked else trace),
        }

    @cached_property
    def row(self) -> str:
        """The same where nothing was asked, as `sql.packed`: made once for all requests that meet with this verdict."""
        return sql.packed(self.columns({}))


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestVerdict:
    """How each route was judged, and what comes of it: maybe the error that the submission gets."""

    survey: Survey
    outcome: Routed | ApiError


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A verdict on all prompts of at most this length, but for those with a command in them."""

    verdict: RequestVerdict
    longest: int

    def is_on(self, prompt: str) -> bool:
        return len(prompt) <= self.longest and not any(
            command_in(prompt, adapter, route.target) for adapter, route in _asked(self.verdict)
        )


def of(catalog: Catalog, *, key_id: int, model: ModelEntry, request: TaskRequest, rules: ParamRules) -> RequestVerdict:
    """What a submission of this key meets with."""
    plan, is_selected = catalog.plan_for(key_id, model)
    key = None if any(_free(request)) else (model.id, plan.id, is_selected, *_chosen(request))
    known: Remembered | None = catalog.remembered.get(key) if key else None
    if known and known.is_on(request.prompt):
        return known.verdict
    verdict = _on(catalog, key_id, model, request, rules)
    if key and _is_on_any_prompt(verdict):
        catalog.remembered.put(key, Remembered(verdict=verdict, longest=len(request.prompt)))
    return verdict


def _on(catalog: Catalog, key_id: int, model: ModelEntry, request: TaskRequest, rules: ParamRules) -> RequestVerdict:
    inputs = images.rules_of_options(rules)
    survey = routing.survey(catalog, key_id=key_id, model=model, request=request, inputs=inputs)
    try:
        decision = routing.decide(survey)
        return RequestVerdict(survey=survey, outcome=Routed(decision=decision, price=priced(model, decision, request)))
    except ApiError as error:
        return RequestVerdict(survey=survey, outcome=error)


def _is_on_any_prompt(verdict: RequestVerdict) -> bool:
    """Whether shorter prompts without a command meet with the same."""
    reasons = (reason for judgement in verdict.survey.judgements for reason in judgement.reasons)
    return (
        isinstance(verdict.outcome, Routed)
        and all(getattr(adapter, "only_limits_prompts", False) for adapter, _ in _asked(verdict))
        and not any(reason.field == "params.prompt" for reason in reasons)
    )


def _asked(verdict: RequestVerdict) -> Iterator[tuple[Adapter | None, RouteEntry]]:
    return ((registry.get(each.route.channel.adapter), each.route) for each in verdict.survey.judgements)


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
