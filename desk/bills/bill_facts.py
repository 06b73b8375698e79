"""Data of a bill's page: the four lists with their sums and a page of lines each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from common import documents
from desk.bills.matching import DIFFERENT, MATCHED, OURS_ONLY, PROVIDER_ONLY
from desk.models import BillLine, ProviderBill
from tasks.models import Call

FEW, PAGE = 20, 100
LISTS = {
    DIFFERENT: ("Different", "Both sides have the job, and the amounts differ."),
    PROVIDER_ONLY: ("Only on the bill", "The provider bills jobs that match no call of ours."),
    OURS_ONLY: ("Only ours", "We bought the job, or may have, and the bill does not list it."),
    MATCHED: ("Matched", "Both sides have the job, and the amounts agree."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShown:
    """Line of a bill with our call, if any. Money in micro-USD."""

    line: BillLine
    task_id: str
    state: str
    is_open: bool

    @property
    def difference_micros(self) -> int | None:
        """Compute what the provider bills beyond the expected cost."""
        if self.line.amount_micros is None or self.line.own_micros is None:
            return None
        return self.line.amount_micros - self.line.own_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class BillList:
    """One of the four lists, with one page of its lines."""

    verdict: str
    label: str
    meaning: str
    count: int
    provider_micros: int
    own_micros: int
    unknown: int
    lines: tuple[LineShown, ...]
    page: int
    has_more: bool


def lists(bill: ProviderBill, *, only: str = "", page: int = 1) -> list[BillList]:
    """Read all four lists with their first lines, or one page of one list."""
    wanted = [only] if only in LISTS else list(LISTS)
    most = PAGE if only in LISTS else FEW
    return [_list(bill, verdict, most, page if only in LISTS else 1) for verdict in wanted]


def _list(bill: ProviderBill, verdict: str, most: int, page: int) -> BillList:
    sums = sums_of(bill, verdict)
    first = (page - 1) * most
    rows = list(bill.lines.filter(run=bill.run, verdict=verdict).order_by("id")[first : first + most + 1])
    label, meaning = LISTS[verdict]
    return BillList(
        verdict=verdict, label=label, meaning=meaning, lines=tuple(_shown(rows[:most])), page=page,
        has_more=len(rows) > most, **sums,
    )  # fmt: skip


def sums_of(bill: ProviderBill, name: str) -> dict[str, int]:
    """Read the sums that were stored with the comparison."""
    stored = documents.shown(documents.shown(bill.sums).get(name))
    names = ("count", "provider_micros", "own_micros", "unknown")
    return {each: stored[each] if isinstance(stored.get(each), int) else 0 for each in names}


def _shown(rows: Iterable[BillLine]) -> list[LineShown]:
    listed = list(rows)
    calls = Call.objects.filter(pk__in=[line.call_id for line in listed if line.call_id])
    found: Mapping[int, Any] = {call.pk: call for call in calls.only("task_id", "state", "outcome")}
    return [_line(line, found.get(line.call_id or 0)) for line in listed]


def _line(line: BillLine, call: Call | None) -> LineShown:
    if call is None:
        return LineShown(line=line, task_id="", state="", is_open=False)
    is_open = call.state == "unknown" and not documents.shown(call.outcome).get("resolved")
    return LineShown(line=line, task_id=call.task_id, state=call.state, is_open=is_open)
