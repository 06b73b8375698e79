"""Settling of calls of unknown outcome by a bill: candidates of a line, and what settling does."""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from common import documents
from desk.bills.our_calls import EARLIER, LATER
from desk.models import BillLine
from tasks.models import Call
from tasks.unknown import open_calls, resolve

MOST_CANDIDATES = 50
ATTACHED, WRITTEN_OFF, NOT_RUN = "attached", "written off", "not run"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettlingCandidate:
    """Open call that a line may belong to. `is_alike`: the line names its model; `stake_micros` is its expected cost,
    None if unknown; `seconds_before` is how long before the line's time it was made, None without a time."""

    call_id: int
    task_id: str
    account: str
    model: str
    created_at: datetime
    is_alike: bool
    stake_micros: int | None
    seconds_before: float | None


def candidates(line: BillLine) -> list[SettlingCandidate]:
    """List open calls of the bill's channel around its period: the line's model first, then the nearest in time."""
    bill = line.bill
    if bill.channel_id is None or bill.since is None or bill.until is None:
        return []
    since = datetime.combine(bill.since, time(), UTC) - EARLIER
    until = datetime.combine(bill.until, time(), UTC) + timedelta(days=1) + LATER
    near = open_calls.open_calls().filter(channel_id=bill.channel_id, created_at__gte=since, created_at__lt=until)
    calls = list(near.select_related("task__account")[:MOST_CANDIDATES])
    stakes = open_calls.costs_at_stake(calls)
    about = line.billed_at or since
    found = [_candidate(line, call, stakes[call.pk]) for call in calls]
    return sorted(found, key=lambda each: (not each.is_alike, abs(each.created_at - about)))


def _candidate(line: BillLine, call: Call, stake_micros: int | None) -> SettlingCandidate:
    upstream_model = documents.shown(call.target).get("upstream_model")
    return SettlingCandidate(
        call_id=call.pk,
        task_id=call.task_id,
        account=call.task.account.name,
        model=call.task.model_name,
        created_at=call.created_at,
        is_alike=bool(line.model) and line.model in (upstream_model, call.task.model_name),
        stake_micros=stake_micros,
        seconds_before=(line.billed_at - call.created_at).total_seconds() if line.billed_at else None,
    )


def attach(line: BillLine, call_id: int, *, by: str) -> str:
    """Attach the line's job to the call: a new task follows it; return its id. Raises open_calls.Refused."""
    new_id = resolve.attach(call_id, line.upstream_id, by=by)
    _note(line, ATTACHED, by=by, call_id=Call.objects.values_list("pk", flat=True).get(task_id=new_id))
    return new_id


def write_off(line: BillLine, call_id: int, *, by: str) -> None:
    """Write off a call that was bought but has no usable result. Raises open_calls.Refused."""
    resolve.mark_lost(call_id, by=by)
    _note(line, WRITTEN_OFF, by=by, call_id=call_id)


def not_run(line: BillLine, call_id: int, *, by: str) -> None:
    """Mark a call as not run, as the provider does not bill it. Raises open_calls.Refused."""
    resolve.mark_not_run(call_id, by=by)
    _note(line, NOT_RUN, by=by, call_id=call_id)


def _note(line: BillLine, settled: str, *, by: str, call_id: int) -> None:
    BillLine.objects.filter(pk=line.pk).update(settled=settled, settled_by=by, call_id=call_id)


def is_open(line: BillLine) -> bool:
    """Check whether the line's call still has an unknown outcome."""
    return line.call_id is not None and open_calls.open_calls().filter(pk=line.call_id).exists()
