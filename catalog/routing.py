"""Step 4: from a model's name to the routes that can run a request; what they cost is left to `prices`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adapters import registry
from adapters.base import Billed, Target, TaskRequest, Unsupported
from catalog.snapshot import Catalog, ModelEntry, PlanEntry, RouteEntry
from common.errors import InvalidRequest, NoCapableRoute, UnsupportedAdapter, UnsupportedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteOption:
    """A route that can run the request, and what its upstream request would buy."""

    route_id: int
    channel_id: int
    channel_model_id: int
    priority: int
    weight: int
    resubmit_ambiguous: bool
    target: Target
    billed: Billed


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One route of the plan: an option, or the reasons why it is none."""

    route: RouteEntry
    option: RouteOption | None
    reasons: tuple[Unsupported, ...] = ()

    def row(self) -> dict[str, Any]:
        """For the operator's eyes only: it names the channel."""
        return {
            "route": self.route.id,
            "channel": self.route.channel.name,
            "kept": self.option is not None,
            "reasons": [{"field": reason.field, "reason": reason.reason} for reason in self.reasons],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The effective plan, its capable routes by priority, and why each route was kept or skipped."""

    plan: PlanEntry
    is_selected: bool
    kept: tuple[RouteOption, ...]
    trace: list[dict[str, Any]]


def resolve(catalog: Catalog, key_id: int, name: str, modality: str | None) -> ModelEntry:
    """The model that a submission means: the contract's steps `model` and `modality`.

    A 3d model resolves, since its missing adapter is told only after its params were validated.
    Raises UnsupportedModel, InvalidRequest (the modality cannot be inferred), UnsupportedAdapter.
    """
    named = catalog.models_named(name)
    if not named:
        raise UnsupportedModel("model: no such model is available; GET /v1/tasks/models lists those that are.")
    if modality is None and len(named) > 1:
        listed = ", ".join(sorted(model.modality for model in named))
        raise InvalidRequest(f"modality is required: this model exists as {listed}.")
    model = named[0] if modality is None else catalog.model(name, modality)
    if model is None:
        raise UnsupportedAdapter(f"modality: this model does not run {modality} tasks.")
    plan, _ = catalog.plan_for(key_id, model)
    if model.modality in registry.modalities() and not catalog.routes(plan.id, model.id):
        raise UnsupportedModel("model: this model is not available to this key.")
    return model


def choose(catalog: Catalog, *, key_id: int, model: ModelEntry, request: TaskRequest) -> Decision:
    """The routes of the key's effective plan that can run the request: the contract's steps `adapter` and `route`.

    All kept routes buy the same, so that the price does not depend on which one runs.
    Raises UnsupportedAdapter, UnsupportedModel (no enabled route), NoCapableRoute (naming fields, never channels).
    """
    if model.modality not in registry.modalities():
        raise UnsupportedAdapter(f"modality: no adapter runs {model.modality} tasks.")
    plan, is_selected = catalog.plan_for(key_id, model)
    routes = catalog.routes(plan.id, model.id)
    if not routes:
        raise UnsupportedModel("model: this model is not available to this key.")
    if not any(is_served(route, model) for route in routes):
        raise UnsupportedAdapter("model: no adapter runs this model.")
    judgements = judge(routes, model, request)
    kept = tuple(judgement.option for judgement in judgements if judgement.option is not None)
    if not kept:
        raise NoCapableRoute(_message([j.reasons for j in judgements if is_served(j.route, model)]))
    return Decision(plan=plan, is_selected=is_selected, kept=kept, trace=[judgement.row() for judgement in judgements])


def is_served(route: RouteEntry, model: ModelEntry) -> bool:
    """Whether the route's adapter is registered and of the model's modality."""
    adapter = registry.get(route.channel.adapter)
    return adapter is not None and model.modality in adapter.modalities


def judge(routes: Iterable[RouteEntry], model: ModelEntry, request: TaskRequest) -> list[Judgement]:
    """Each route's verdict, in order. A route that would buy something else than the first capable one is skipped."""
    judgements: list[Judgement] = []
    first: Billed | None = None
    for route in routes:
        judgement = _judge(route, model, request)
        if judgement.option is not None:
            first = first or judgement.option.billed
            if judgement.option.billed != first:
                judgement = _skipped(route, "params", f"it would buy {judgement.option.billed}, not {first}")
        judgements.append(judgement)
    return judgements


def _judge(route: RouteEntry, model: ModelEntry, request: TaskRequest) -> Judgement:
    adapter = registry.get(route.channel.adapter)
    if adapter is None or model.modality not in adapter.modalities:
        return _skipped(route, "modality", f"adapter {route.channel.adapter} does not run {model.modality} tasks")
    if reasons := adapter.check(request, route.target):
        return Judgement(route=route, option=None, reasons=tuple(reasons))
    option = RouteOption(
        route_id=route.id,
        channel_id=route.channel.id,
        channel_model_id=route.channel_model_id,
        priority=route.priority,
        weight=route.weight,
        resubmit_ambiguous=route.resubmit_ambiguous,
        target=route.target,
        billed=adapter.build(request, route.target).billed,
    )
    return Judgement(route=route, option=option)


def _skipped(route: RouteEntry, field: str, reason: str) -> Judgement:
    return Judgement(route=route, option=None, reasons=(Unsupported(field=field, reason=reason),))


def _message(reasons: Sequence[Iterable[Unsupported]]) -> str:
    fields = [{unsupported.field for unsupported in route} for route in reasons]
    if everywhere := set.intersection(*fields):
        return f"No available route supports the given {', '.join(sorted(everywhere))}."
    return f"No available route supports this combination of {', '.join(sorted(set().union(*fields)))}."
