"""Routes and paid calls on a task's page."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from common.documents import shown
from common.redaction import clean
from tasks.models import Call
from tasks.shown import trace
from tasks.shown.trace import Trace


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteVerdict:
    """Route of the routing decision: kept, with what it buys, or skipped, with fields and reasons."""

    number: int
    channel: str
    target: str
    priority: object
    weight: object
    is_kept: bool
    buys: str
    reasons: tuple[tuple[str, str], ...]


def routes(found: Trace) -> list[RouteVerdict]:
    return [_route(number, row) for number, row in enumerate(found.routes, 1)]


def _route(number: int, row: Mapping[str, object]) -> RouteVerdict:
    billed = shown(row.get("billed"))
    return RouteVerdict(
        number=number,
        channel=_joined(row.get("channel") or "–"),
        target=_joined(row.get("adapter"), row.get("upstream_model")),
        priority=row.get("priority"),
        weight=row.get("weight"),
        is_kept=bool(row.get("kept")),
        buys=f"{billed.get('count')} × {billed.get('tier') or 'no known tier'}" if billed else "",
        reasons=tuple((clean(field), clean(reason)) for field, reason in trace.reasons(row)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidCallRow:
    """Paid call as the page shows it. `charged_micros` is the client's part; `followed_by` is the task that an operator
    created from it."""

    call: Call
    number: str
    route: int | None
    channel: str
    target: str
    credential: str
    upstream_id: str
    answer: str
    message: str
    request_id: str
    passed: tuple[str, ...]
    charged_micros: int
    seconds: float | None
    resolved: str
    followed_by: str


def paid_calls(found: Trace) -> list[PaidCallRow]:
    told = trace.operator(found)["attempts"]
    return [_call(found, call, row) for call, row in zip(found.calls, told, strict=True)]


def _call(found: Trace, call: Call, told: Mapping[str, Any]) -> PaidCallRow:
    resolved = f"{told['resolved']} by {shown(call.outcome).get('by')}" if told["resolved"] else ""
    status = f"HTTP {told['http_status']}" if told["http_status"] else None
    return PaidCallRow(
        call=call,
        number=f"{call.attempt}.{call.position + 1}",
        route=told["route"],
        channel=told["channel"] or "deleted",
        target=_joined(told["adapter"], told["upstream_model"]),
        credential=(told["credential"] or "").removesuffix("…") or "–",
        upstream_id=_joined(told["upstream_id"]),
        answer=_joined((told["outcome"] or "").replace("_", " "), status, told["code"]),
        message=_joined(told["message"]),
        request_id=_joined(told["request_id"]),
        passed=tuple(_joined(f"route {each['route'] or '?'}: {each['reason']}") for each in told["passed_over"]),
        charged_micros=found.charges.get(call.pk, 0),
        seconds=told["duration"],
        resolved=resolved,
        followed_by=str(shown(call.outcome).get("task") or ""),
    )


def _joined(*parts: object) -> str:
    """Join the non-empty parts, without secrets."""
    return clean(" · ".join(str(part) for part in parts if part))
