"""Why a task ran where it ran: the decision stored at its submission, its paid calls, and what they cost.

Two views of it: `operator` with names, the providers' ids and words, `public` without any, for the task's owner.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters import registry
from common import moments
from common.documents import elements, fits, shown
from common.money import usd
from tasks.assets import stored_inputs
from tasks.models import Call, Task, TaskPayload

ELSEWHERE = "does not run this modality"
FILES = ("images", "mask", "inputs")
INEXPRESSIBLE = "is not supported here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """`routes` as `catalog/routing.py` wrote them, in order; `references` to results that were sent, by their fields;
    empty where nothing is kept any more. Money in micro-USD; `charges` has what each call's delivery cost the client,
    by the call's id."""

    task_id: str
    status: str
    plan: str | None
    routes: tuple[Mapping[str, Any], ...]
    references: Mapping[str, str]
    calls: tuple[Call, ...]
    charges: Mapping[int, int]

    def number(self, route_id: int) -> int | None:
        """The place of a route in the decision, from 1; None for one that is not in it."""
        return next((n for n, row in enumerate(self.routes, 1) if row.get("route") == route_id), None)


def of_task(task_id: str) -> Trace:
    """The trace of an existing task, in three statements. Raises Task.DoesNotExist."""
    return of(Task.objects.only("id", "status", "actual_micros").get(id=task_id))


def of(task: Task) -> Trace:
    """The same of a row at hand, in two statements."""
    wanted = ("trace", *(f"params__{name}" for name in FILES))
    stored = TaskPayload.objects.filter(task_id=task.pk).values_list(*wanted).first()
    kept, *files = stored or (None, *[None] * len(FILES))
    decision = shown(kept)
    calls = tuple(
        Call.objects.filter(task_id=task.pk).select_related("credential", "channel").order_by("attempt", "position")
    )
    return Trace(
        task_id=task.pk,
        status=task.status,
        plan=decision.get("plan"),
        routes=tuple(map(shown, elements(decision.get("routes")))),
        references=_references(dict(zip(FILES, files, strict=True))),
        calls=calls,
        charges=charges(calls, task.actual_micros or 0),
    )


def _references(params: Mapping[str, Any]) -> dict[str, str]:
    sent = ((field, file.get("reference")) for field, file in stored_inputs.files_of(params))
    return {field: reference for field, reference in sent if isinstance(reference, str)}


def charges(calls: Sequence[Call], actual_micros: int) -> dict[int, int]:
    """The task's cost by call: those that delivered share it by the number of their files, to the last micro-USD."""
    files = {call.pk: _delivered(call) for call in calls if _delivered(call)}
    whole, shares, given, counted = sum(files.values()), {}, 0, 0
    for call_id, count in files.items():
        counted += count
        shares[call_id] = actual_micros * counted // whole - given
        given += shares[call_id]
    return shares


def _delivered(call: Call) -> int:
    outcome = shown(call.outcome)
    if call.state != "done" or outcome.get("kind") != "succeeded":
        return 0
    files = outcome.get("delivered", 1)
    return files if fits(files, int) else 1


def public(trace: Trace) -> dict[str, Any]:
    """What the task's owner may see: numbers for providers, kinds for their words, and no cost but its own."""
    return {
        "object": "trace",
        "id": trace.task_id,
        "status": trace.status,
        "plan": trace.plan,
        "inputs": [{"field": field, "reference": reference} for field, reference in trace.references.items()],
        "routes": [_public_route(number, row) for number, row in enumerate(trace.routes, 1)],
        "attempts": [_public_call(trace, call) for call in trace.calls],
    }


def _public_route(number: int, row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "route": number,
        "priority": row.get("priority"),
        "weight": row.get("weight"),
        "kept": bool(row.get("kept")),
        "reasons": _public_reasons(row),
    }


def _public_reasons(row: Mapping[str, Any]) -> list[dict[str, str]]:
    """The reasons; one whose text holds a name of the provider's is told in our words."""
    names = (*(row.get(name) for name in ("channel", "adapter", "upstream_model")), *registry.ADAPTERS)
    telling = _any_of({name for name in names if name and isinstance(name, str)})
    return [{"field": field, "reason": _public_reason(telling, field, reason)} for field, reason in reasons(row)]


def reasons(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Why a route was skipped: the fields, and what speaks against each."""
    found = map(shown, elements(row.get("reasons")))
    return [(str(each.get("field", "")), str(each.get("reason", ""))) for each in found]


def _public_reason(telling: re.Pattern[str], field: str, reason: str) -> str:
    if not telling.search(reason):
        return reason
    return ELSEWHERE if field == "modality" else INEXPRESSIBLE


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    listed = "|".join(re.escape(name) for name in sorted(names))
    return re.compile(rf"\badapter\b|(?<!\w)(?:{listed})(?!\w)", re.IGNORECASE)


def _public_call(trace: Trace, call: Call) -> dict[str, Any]:
    outcome = shown(call.outcome)
    return {
        "attempt": call.attempt,
        "call": call.position,
        "route": trace.number(call.route_id),
        "state": call.state,
        "outcome": outcome.get("kind"),
        "http_status": outcome.get("http_status"),
        "passed_over": [{"route": trace.number(route), "reason": reason} for route, reason in passed(call)],
        "created_at": moments.iso(call.created_at),
        "answered_at": moments.iso(call.answered_at),
        "ended_at": moments.iso(call.ended_at),
        "duration": round((call.ended_at - call.created_at).total_seconds(), 3) if call.ended_at else None,
        "cost": usd(trace.charges.get(call.pk, 0)),
    }


def passed(call: Call) -> list[tuple[int, str]]:
    """The routes that were drawn before this one, and why each was passed over."""
    return [(each[0], each[1]) for each in elements(call.passed) if isinstance(each, list) and len(each) == 2]


def upstream_id(call: Call) -> str | None:
    """The provider's own name for the job, for the operator alone; None for a call that answered at once."""
    name = shown(call.handle).get("id")
    return name if isinstance(name, str) else None


def operator(trace: Trace) -> dict[str, Any]:
    """All of it, credentials by their last four characters; `cost` is the client's, `own_cost` the operator's."""
    return {
        **public(trace),
        "routes": [{**row, "route": number, "id": row.get("route")} for number, row in enumerate(trace.routes, 1)],
        "attempts": [_public_call(trace, call) | _private(call) for call in trace.calls],
    }


def _private(call: Call) -> dict[str, Any]:
    target, outcome = shown(call.target), shown(call.outcome)
    own = call.cost_micros
    return {
        "channel": call.channel.name if call.channel else None,
        "adapter": target.get("adapter"),
        "upstream_model": target.get("upstream_model"),
        "upstream_id": upstream_id(call),
        "credential": f"…{call.credential.last4}" if call.credential else None,
        "code": outcome.get("code") or None,
        "message": outcome.get("message") or None,
        "request_id": outcome.get("request_id") or None,
        "resolved": outcome.get("resolved"),
        "mismatch": call.mismatch or None,
        "own_cost": None if own is None else usd(own),
    }
