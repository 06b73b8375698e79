"""What the page of a bill shows: the four lists with their sums, and a page of the lines of each."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from common import documents
from desk.bills.matching import DIFFERENT, MATCHED, OURS_ONLY, PROVIDER_ONLY
from desk.models import BillLine, ProviderBill
from tasks.models import Call

FEW, PAGE = 20, 100
LISTS = {
    DIFFERENT: ("Different", "Both know the job, and the amounts differ."),
    PROVIDER_ONLY: ("Only on the bill", "The provider bills jobs that no call of ours has as its own."),
    OURS_ONLY: ("Only ours", "We have bought it, or may have, and the bill does not name it."),
    MATCHED: ("Matched", "Both know the job, and the amounts are the same."),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class LineShown:
    """A line with our call, where there is one. Money in micro-USD."""

    line: BillLine
    task_id: str
    state: str
    is_open: bool

    @property
    def difference_micros(self) -> int | None:
        """What the provider bills beyond what we expected."""
        if self.line.amount_micros is None or self.line.own_micros is None:
            return None
        return self.line.amount_micros - self.line.own_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class BillList:
    """One of the four lists; `lines` are a page of it."""

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
    """All four with their first lines, or one of them with a page of its own."""
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
    """As they were stored with the comparison."""
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
