"""Step 5: from a model's name to the routes that can run a request; what they cost is left to `prices`."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from adapters import expression, registry
from adapters.base import Billed, TaskRequest, Unsupported
from adapters.kit.replaced_inputs import InputRules
from catalog.entries import ModelEntry, PlanEntry, Resolved, RouteEntry
from catalog.snapshot import Catalog
from common.errors import ApiError, InvalidRequest, NoCapableRoute, UnsupportedAdapter, UnsupportedModel

LONGEST_MESSAGE, LONGEST_REASON = 1_000, 400
LEFT_OUT = "; and {} more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One route of the plan: what its upstream request would buy, or the reasons why it cannot run the request."""

    route: RouteEntry
    billed: Billed | None
    reasons: tuple[Unsupported, ...] = ()

    def row(self) -> dict[str, Any]:
        """As it is kept with the task, complete for ever. For the operator's eyes only: it names the channel.

        `billed` is {tier, count} of a kept route, else None.
        """
        billed = self.billed
        return {
            "route": self.route.id,
            "channel": self.route.channel.name,
            "adapter": self.route.channel.adapter,
            "upstream_model": self.route.upstream_model,
            "priority": self.route.priority,
            "weight": self.route.weight,
            "kept": billed is not None,
            "reasons": [{"field": reason.field, "reason": reason.reason} for reason in self.reasons],
            "billed": {"tier": billed.tier, "count": billed.count} if billed else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """The effective plan, its capable routes by priority, what each of them buys, and why each route was kept or
    skipped."""

    plan: PlanEntry
    kept: tuple[Judgement, ...]
    billed: Billed
    trace: list[dict[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """Every route of a key's effective plan for a model, judged; also where none of them can run the request."""

    model: ModelEntry
    plan: PlanEntry
    is_selected: bool
    judgements: tuple[Judgement, ...]


def resolve(catalog: Catalog, key_id: int, name: str, modality: str | None) -> Resolved:
    """The model that a submission means: the contract's steps `model` and `modality`.

    A 3d model resolves, since its missing adapter is told only after its params were validated.
    Raises UnsupportedModel, InvalidRequest (the modality cannot be inferred), UnsupportedAdapter.
    """
    model = catalog.model(name, modality) if modality else None
    resolved = catalog.resolved(key_id, model or _only_one(catalog.models_named(name), modality))
    if not resolved.routes and registry.runs(resolved.model.modality):
        raise UnsupportedModel("model: this model is not available to this key.")
    return resolved


def _only_one(named: Sequence[ModelEntry], modality: str | None) -> ModelEntry:
    """The one model of a name, where no modality was said. Raises as `resolve`."""
    if not named:
        raise UnsupportedModel("model: no such model is available; GET /v1/tasks/models lists those that are.")
    if modality is not None:
        raise UnsupportedAdapter(f"modality: this model does not run {modality} tasks.")
    if len(named) > 1:
        listed = ", ".join(sorted(model.modality for model in named))
        raise InvalidRequest(f"modality is required: this model exists as {listed}.")
    return named[0]


def survey(
    resolved: Resolved,
    request: TaskRequest,
    *,
    wanted: Billed | None = None,
    inputs: InputRules = expression.NO_RULES,
) -> Survey:
    """Judge every route; `wanted` is what they must buy where that is settled already, `inputs` what a submission asks
    of inputs in `extra_body`. Raises nothing."""
    model, judgements = resolved.model, judge(resolved.routes, resolved.model, request, wanted, inputs)
    return Survey(model=model, plan=resolved.plan, is_selected=resolved.is_selected, judgements=tuple(judgements))


def decide(survey: Survey) -> Decision:
    """The routes that were kept, by the contract's steps `adapter` and `route`. All buy the same: the price does not
    depend on which one runs.

    Raises UnsupportedAdapter, UnsupportedModel (no enabled route), InvalidRequest (a value that is legal nowhere),
    NoCapableRoute (naming fields and reasons, never channels).
    """
    kept = tuple([judgement for judgement in survey.judgements if judgement.billed])
    if kept and kept[0].billed:
        trace = [judgement.row() for judgement in survey.judgements]
        return Decision(plan=survey.plan, kept=kept, billed=kept[0].billed, trace=trace)
    raise _refusal(survey)


def _refusal(survey: Survey) -> ApiError:
    """Why no route can run the request."""
    model, judgements = survey.model, survey.judgements
    if not registry.runs(model.modality):
        return UnsupportedAdapter(f"modality: no adapter runs {model.modality} tasks.")
    if not judgements:
        return UnsupportedModel("model: this model is not available to this key.")
    served = [judgement for judgement in judgements if is_served(judgement.route, model)]
    if not served:
        return UnsupportedAdapter("model: no adapter runs this model.")
    reasons = [judgement.reasons for judgement in served]
    return _invalid(reasons) or _incapable(reasons)


def is_served(route: RouteEntry, model: ModelEntry) -> bool:
    """Whether the route's adapter is registered and of the model's modality."""
    return route.adapter is not None and model.modality in route.adapter.modalities


def judge(
    routes: Iterable[RouteEntry],
    model: ModelEntry,
    request: TaskRequest,
    wanted: Billed | None = None,
    inputs: InputRules = expression.NO_RULES,
) -> list[Judgement]:
    """The routes, judged in order. One that would buy something else than `wanted`, or without it than the first
    capable one, is skipped."""
    judgements: list[Judgement] = []
    for route in routes:
        judgement = _judge(route, model, request, inputs)
        if judgement.billed:
            wanted = wanted or judgement.billed
            if judgement.billed != wanted:
                bought = _described(judgement.billed)
                judgement = _skipped(route, "params", f"it would buy {bought}, not {_described(wanted)}")
        judgements.append(judgement)
    return judgements


def _judge(route: RouteEntry, model: ModelEntry, request: TaskRequest, inputs: InputRules) -> Judgement:
    adapter = route.adapter
    if adapter is None or model.modality not in adapter.modalities:
        return _skipped(route, "modality", f"adapter {route.channel.adapter} does not run {model.modality} tasks")
    found = expression.judge(adapter, request, route.target, inputs)
    if isinstance(found, list):
        return Judgement(route=route, billed=None, reasons=tuple(found))
    return Judgement(route=route, billed=found.billed)


def _skipped(route: RouteEntry, field: str, reason: str) -> Judgement:
    return Judgement(route=route, billed=None, reasons=(Unsupported(field=field, reason=reason),))


def _described(billed: Billed) -> str:
    return f"{billed.count} of {billed.tier or 'no known tier'}"


def _invalid(routes: Sequence[Sequence[Unsupported]]) -> InvalidRequest | None:
    """The first value that is illegal on one route, where no other has a use for its field."""
    for illegal in (reason for route in routes for reason in route if reason.is_illegal):
        if all(any(_holds(reason.field, illegal.field) for reason in route) for route in routes):
            return InvalidRequest(f"{illegal.field} {illegal.reason}.", param=illegal.field)
    return None


def _holds(field: str, inner: str) -> bool:
    """Whether a path is that of the field, or of a part of it."""
    return inner == field or inner.startswith((f"{field}.", f"{field}["))


def _incapable(reasons: Sequence[Iterable[Unsupported]]) -> NoCapableRoute:
    everywhere = set.intersection(*({unsupported.field for unsupported in route} for route in reasons))
    told = dict.fromkeys(f"{each.field}: {each.reason}" for route in reasons for each in route)
    param = everywhere.pop() if len(everywhere) == 1 else None
    return NoCapableRoute(_in_one_line("No available route supports this request. ", list(told)), param=param)


def _in_one_line(beginning: str, reasons: Sequence[str]) -> str:
    """The reasons as a sentence of bounded length, for which the last ones are left out. They may quote a request."""
    line = beginning
    for count, reason in enumerate(map(_plain, reasons)):
        left = len(reasons) - count
        more = f"{'; ' if count else ''}{reason}"
        if len(line) + len(more) + len(LEFT_OUT.format(left)) > LONGEST_MESSAGE:
            return f"{line}{LEFT_OUT.format(left)}."
        line += more
    return f"{line}."


def _plain(reason: str) -> str:
    """Without line breaks and what else cannot be seen."""
    seen = " ".join("".join(sign if sign.isprintable() else " " for sign in reason).split())
    return seen if len(seen) <= LONGEST_REASON else f"{seen[:LONGEST_REASON]}…"
