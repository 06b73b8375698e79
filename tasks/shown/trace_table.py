"""A task's trace as tables for the admin: which routes there were, and what was paid on which."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from common.documents import shown
from common.redaction import clean
from tasks.shown.trace import Trace, operator, reasons

ROUTE_HEADS = ("route", "channel", "adapter", "upstream model", "priority", "weight", "verdict", "why")
CALL_HEADS = (
    *("attempt", "call", "route", "channel", "credential", "state", "outcome", "upstream id", "passed over"),
    *("created", "seconds", "charged", "own cost", "differs from the bill"),
)


def tables(trace: Trace) -> SafeString:
    """Both, the routes by their number in the decision."""
    seen = operator(trace)
    plan = seen["plan"] or "–"
    return format_html(
        "<p>Plan {}</p>{}{}",
        plan,
        _table(ROUTE_HEADS, (_route(row) for row in seen["routes"])),
        _table(CALL_HEADS, (_call(row) for row in seen["attempts"])),
    )


def _route(row: Mapping[str, Any]) -> tuple[object, ...]:
    why = "; ".join(f"{field}: {reason}" for field, reason in reasons(row))
    billed = shown(row.get("billed"))
    buys = f"buys {billed.get('count')} of {billed.get('tier') or 'no known tier'}" if billed else ""
    names = (row.get(name) for name in ("channel", "adapter", "upstream_model", "priority", "weight"))
    return (f"{row['route']} (#{row['id']})", *names, "✔ kept" if row.get("kept") else "⊘ skipped", why or buys)


def _call(row: Mapping[str, Any]) -> tuple[object, ...]:
    said = (row["outcome"], row["http_status"], row["code"], row["message"], row["resolved"])
    passed = ", ".join(f"{each['route']} {each['reason']}" for each in row["passed_over"])
    place = (row["attempt"], row["call"], row["route"], f"{row['channel']} · {row['upstream_model']}")
    costs = (row["cost"], row["own_cost"])
    money = (None if cost is None else f"${Decimal(str(cost)):f}" for cost in costs)
    words = " · ".join(str(part) for part in said if part is not None)
    return (
        *place,
        row["credential"],
        row["state"],
        words,
        row["upstream_id"],
        passed,
        row["created_at"],
        row["duration"],
        *money,
        row["mismatch"],
    )


def _table(heads: Iterable[str], rows: Iterable[tuple[object, ...]]) -> SafeString:
    body = format_html_join("", "<tr>{}</tr>", ((_cells(row),) for row in rows))
    return format_html("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>", _heads(heads), body)


def _heads(heads: Iterable[str]) -> SafeString:
    return format_html_join("", "<th>{}</th>", ((head,) for head in heads))


def _cells(row: tuple[object, ...]) -> SafeString:
    return format_html_join("", "<td>{}</td>", (("–" if cell in (None, "") else clean(str(cell)),) for cell in row))
