"""Explain which routes a request would take and why, for the `explain` command. Sends and stores nothing."""

import json
from collections.abc import Mapping
from typing import Any

from accounts.models import Account, ApiKey
from adapters import expression, registry
from adapters.base import FilePart, Target, TaskRequest, UpstreamRequest
from adapters.kit import inline
from billing.pricing import Price
from catalog import pausing, snapshot
from catalog.health import states
from catalog.models import Channel, MediaModel, Route
from catalog.routing import Judgement, Survey
from common import money
from common.errors import ApiError, BillingUnsupported, ScopeRequired
from common.redaction import clean, cleaned
from tasks.intake import examination
from tasks.intake.examination import Examination


def explain(key: ApiKey, document: dict[str, Any]) -> Examination:
    """Run a submission's checks from scope to price, in order; skip pauses, limits and the balance."""
    try:
        _refuse_callers(key)
    except ApiError as error:
        return Examination(outcome=error)
    return examination.examine(key.pk, document, snapshot.latest())


def _refuse_callers(key: ApiKey) -> None:
    if key.binding != ApiKey.Binding.TASK or not key.task_api:
        raise ScopeRequired()
    if key.account.billing == Account.Billing.SUBSCRIPTION:
        raise BillingUnsupported()


def shown(found: Examination) -> dict[str, Any]:
    """Represent an examination as JSON: routes with channel health, price, and the first route's upstream request."""
    survey, outcome = found.survey, found.outcome
    states = channel_states()
    if survey and survey.model.id in pausing.paused()[1]:
        states |= {judgement.route.channel.id: "paused" for judgement in survey.judgements}
    return {
        "model": survey.model.name if survey else None,
        "modality": survey.model.modality if survey else None,
        "plan": survey.plan.name if survey else None,
        "plan_selected": survey.is_selected if survey else None,
        "routes": [_route(judgement, states) for judgement in survey.judgements] if survey else [],
        "notes": _notes(survey),
        "price": None if isinstance(outcome, ApiError) else _price(outcome.price),
        "request": _upstream(found),
        "error": {"type": outcome.type, "message": outcome.message} if isinstance(outcome, ApiError) else None,
    }


def channel_states() -> dict[int, str]:
    """Map each unavailable channel's id to the reason, in the words of a call's `passed`."""
    disabled, resting = states.unusable()
    paused, _ = pausing.paused()
    found = dict.fromkeys(resting, "cooling down") | dict.fromkeys(disabled, "disabled")
    return found | dict.fromkeys(paused, "paused")


def _notes(survey: Survey | None) -> list[str]:
    """List paused or drained models and channels on the request's routes; without a plan, all of them."""
    if survey is None:
        return list(map(pausing.told, pausing.halted()))
    routes = Route.objects.filter(plan_id=survey.plan.id, model_id=survey.model.id, enabled=True)
    channels = Channel.objects.filter(routes__in=routes).order_by("name")
    return [
        words for row in (*MediaModel.objects.filter(pk=survey.model.id), *channels) if (words := pausing.told(row))
    ]


def _route(judgement: Judgement, states: Mapping[int, str]) -> dict[str, Any]:
    return {**judgement.row(), "health": states.get(judgement.route.channel.id, "ok")}


def _price(price: Price) -> dict[str, Any]:
    return {
        "mode": price.mode,
        "tier": price.tier,
        "unit": money.usd(price.unit_micros),
        "quantity": price.quantity,
        "estimated_cost": money.usd(price.estimate_micros),
    }


def _upstream(found: Examination) -> dict[str, Any] | None:
    """Build the first capable route's request without credentials; Data URLs and files are shown by size."""
    capable = [judgement.route for judgement in found.survey.judgements if judgement.billed] if found.survey else []
    if not capable or found.request is None:
        return None
    route, built = capable[0], _built(capable[0].target, found.request)
    return {
        "route": route.id,
        "url": clean(f"{route.channel.base_url}{built.path}"),
        "calls": built.calls,
        "encoding": built.encoding,
        "body": cleaned(_readable(built.body)),
        "files": [_file(part) for part in built.files],
    }


def _built(target: Target, request: TaskRequest) -> UpstreamRequest:
    adapter = registry.get(target.adapter)
    if adapter is None:
        raise LookupError(f"adapter {target.adapter} is not registered any more")
    return expression.build(adapter, request, target)


def _readable(value: Any) -> Any:
    """Replace the placeholders of files in a body by words."""
    if isinstance(value, Mapping):
        for mark, meaning in ((inline.MARK, "content"), (inline.MARK_TYPE, "content type")):
            if mark in value:
                return f"[{meaning} of file {value[mark]}]"
        return {name: _readable(item) for name, item in value.items()}
    return [_readable(item) for item in value] if isinstance(value, list | tuple) else value


def _file(part: FilePart) -> dict[str, Any]:
    stored = part.image.stored
    source = f"{stored.content_type}, {stored.size_bytes} bytes" if stored else clean(part.image.url or "")
    return {"field": part.field, "source": source}


def listed(answer: Mapping[str, Any]) -> dict[str, object]:
    """Format the JSON answer as named lines for people, without unknown values."""
    price, request = answer["price"], answer["request"]
    found: dict[str, object] = {name: answer[name] for name in ("model", "modality", "plan")}
    found["routes"] = "".join([str(len(answer["routes"])), *(f"\n  {_line(row)}" for row in answer["routes"])])
    if answer["notes"]:
        found["notes"] = "; ".join(answer["notes"])
    if price:
        found["price"] = f"${price['unit']} × {price['quantity']} ({price['tier']}) = ${price['estimated_cost']}"
    if request:
        times = f", {request['calls']} times" if request["calls"] > 1 else ""
        found["request"] = f"route {request['route']}: POST {request['url']} as {request['encoding']}{times}"
        found["body"] = json.dumps(request["body"], indent=2, ensure_ascii=False)
    if request and request["files"]:
        found["files"] = "".join(f"\n  {file['field']}: {file['source']}" for file in request["files"])
    return {name: value for name, value in found.items() if value is not None}


def _line(row: Mapping[str, Any]) -> str:
    why = "; ".join(f"{reason['field']}: {reason['reason']}" for reason in row["reasons"])
    billed = row["billed"] and f"buys {row['billed']['count']} of {row['billed']['tier'] or 'no known tier'}"
    verdict = "kept" if row["kept"] else "skipped"
    where = f"{row['channel']} ({row['adapter']}, {row['upstream_model']}, {row['health']})"
    return f"route {row['route']} priority {row['priority']} weight {row['weight']} {where}: {verdict}, {why or billed}"
