"""Compares what a provider bills with what we bought, job by job. Pure: calls come from `desk/bills/calls.py`."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from desk.bills.columns import ProviderLine

MATCHED, DIFFERENT, PROVIDER_ONLY, OURS_ONLY = VERDICTS = ("matched", "different", "provider_only", "ours_only")


@dataclass(frozen=True, slots=True, kw_only=True)
class OurCall:
    """A paid call. `upstream_id` is "" where the provider has told none: it answered at once, or nobody knows what it
    answered (`is_unknown`). `is_bought` where it made something, so that it should be billed. Money in micro-USD."""

    id: int
    upstream_id: str
    cost_micros: int | None
    is_bought: bool
    is_unknown: bool
    created_at: datetime

    @property
    def own_micros(self) -> int | None:
        """What we expect to pay; None where nobody knows, or has entered what the channel costs."""
        made_nothing = self.cost_micros is None and not self.is_bought and not self.is_unknown
        return 0 if made_nothing else self.cost_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a line of the provider's, or of a call that has none (`line` is None)."""

    verdict: str
    line: ProviderLine | None
    call: OurCall | None


@dataclass(slots=True, kw_only=True)
class VerdictSums:
    """How many, what the provider bills for them, and what we expected; `unknown` have no cost of ours."""

    count: int = 0
    provider_micros: int = 0
    own_micros: int = 0
    unknown: int = 0

    def add(self, verdict: Judged, *, is_first: bool) -> None:
        """A call with several lines is ours once."""
        self.count += 1
        self.provider_micros += verdict.line.amount_micros if verdict.line else 0
        if verdict.call and is_first:
            own = verdict.call.own_micros
            self.own_micros += own or 0
            self.unknown += own is None


@dataclass(slots=True, kw_only=True)
class Comparison:
    """A bill while our calls come by, in the order of their ids; each is held only if something is to be said of it.

    `since` and `until` bound the period of the bill: a job may be billed on the day after it was bought, so calls from
    around the period are matched, but only those within it are missed.
    """

    lines: Sequence[ProviderLine]
    since: datetime
    until: datetime
    most_ours: int = 10_000
    found: dict[str, OurCall] = field(default_factory=dict)
    ours: list[OurCall] = field(default_factory=list)
    ours_unlisted: VerdictSums = field(default_factory=VerdictSums)
    nameless: VerdictSums = field(default_factory=VerdictSums)
    billed: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.billed = frozenset(line.upstream_id for line in self.lines)

    def meet(self, calls: Iterable[OurCall]) -> None:
        """Take in some calls. Of several with one id the first that was bought counts."""
        for call in calls:
            if call.upstream_id in self.billed:
                before = self.found.get(call.upstream_id)
                if before is None or (call.is_bought and not before.is_bought):
                    self.found[call.upstream_id] = call
            elif self.since <= call.created_at < self.until:
                self._missed(call)

    def _missed(self, call: OurCall) -> None:
        verdict = Judged(verdict=OURS_ONLY, line=None, call=call)
        if not call.is_unknown and not (call.is_bought and call.own_micros != 0):
            return
        if not call.is_unknown and not call.upstream_id:
            self.nameless.add(verdict, is_first=True)
        elif len(self.ours) < self.most_ours:
            self.ours.append(call)
        else:
            self.ours_unlisted.add(verdict, is_first=True)

    def verdicts(self) -> list[Judged]:
        """Of every line in its order, then of every call that is missed. A call's lines are compared together."""
        billed = totals(self.lines)
        judged = [
            Judged(verdict=self._judged(line, billed), line=line, call=self.found.get(line.upstream_id))
            for line in self.lines
        ]
        return judged + [Judged(verdict=OURS_ONLY, line=None, call=call) for call in self.ours]

    def _judged(self, line: ProviderLine, billed: Mapping[str, int]) -> str:
        call = self.found.get(line.upstream_id)
        if call is None:
            return PROVIDER_ONLY
        return MATCHED if call.own_micros == billed[line.upstream_id] else DIFFERENT


def totals(lines: Iterable[ProviderLine]) -> dict[str, int]:
    """Micro-USD by job: some providers write a line for each picture of one."""
    sums: dict[str, int] = {}
    for line in lines:
        sums[line.upstream_id] = sums.get(line.upstream_id, 0) + line.amount_micros
    return sums


def sums(verdicts: Iterable[Judged], unlisted: VerdictSums) -> dict[str, VerdictSums]:
    """By verdict; the calls that are missed and not listed count with the others."""
    found = {verdict: VerdictSums() for verdict in VERDICTS}
    seen: set[int] = set()
    for each in verdicts:
        number = each.call.id if each.call else 0
        found[each.verdict].add(each, is_first=number not in seen)
        seen.add(number)
    ours = found[OURS_ONLY]
    ours.count += unlisted.count
    ours.own_micros += unlisted.own_micros
    ours.unknown += unlisted.unknown
    return found
