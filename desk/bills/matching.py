"""Comparison of a provider's bill with our calls, job by job. Pure: `desk/bills/our_calls.py` reads the calls."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from desk.bills.columns import ProviderLine

MATCHED, DIFFERENT, PROVIDER_ONLY, OURS_ONLY = VERDICTS = ("matched", "different", "provider_only", "ours_only")


@dataclass(frozen=True, slots=True, kw_only=True)
class OurCall:
    """Paid call of ours. `upstream_id` is "" if the provider sent none: it answered at once, or its answer was lost
    (`is_unknown`). `is_bought`: it produced something and should be billed. Money in micro-USD."""

    id: int
    upstream_id: str
    cost_micros: int | None
    is_bought: bool
    is_unknown: bool
    created_at: datetime

    @property
    def own_micros(self) -> int | None:
        """Compute the expected cost; None if the outcome or the channel's cost is unknown."""
        made_nothing = self.cost_micros is None and not self.is_bought and not self.is_unknown
        return 0 if made_nothing else self.cost_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedLine:
    """Verdict on a billed line, or on a call without one (`line` is None)."""

    verdict: str
    line: ProviderLine | None
    call: OurCall | None


@dataclass(slots=True, kw_only=True)
class VerdictSums:
    """Sums of one verdict: count, billed amount, expected cost; `unknown` counts calls of unknown cost."""

    count: int = 0
    provider_micros: int = 0
    own_micros: int = 0
    unknown: int = 0

    def add(self, verdict: JudgedLine, *, is_first: bool) -> None:
        """Add a verdict; our cost of a call with several lines is added once."""
        self.count += 1
        self.provider_micros += verdict.line.amount_micros if verdict.line else 0
        if verdict.call and is_first:
            own = verdict.call.own_micros
            self.own_micros += own or 0
            self.unknown += own is None


@dataclass(slots=True, kw_only=True)
class Comparison:
    """Running comparison of a bill with our calls in id order; only calls that matter are kept in memory.

    `since` and `until` bound the bill's period: a job may be billed a day after it was bought, so calls around the
    period can match, but only those within it count as missing.
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

    def add_calls(self, calls: Iterable[OurCall]) -> None:
        """Add a page of calls. If several share an id, the first bought one counts."""
        for call in calls:
            if call.upstream_id in self.billed:
                before = self.found.get(call.upstream_id)
                if before is None or (call.is_bought and not before.is_bought):
                    self.found[call.upstream_id] = call
            elif self.since <= call.created_at < self.until:
                self._missed(call)

    def _missed(self, call: OurCall) -> None:
        verdict = JudgedLine(verdict=OURS_ONLY, line=None, call=call)
        if not call.is_unknown and not (call.is_bought and call.own_micros != 0):
            return
        if not call.is_unknown and not call.upstream_id:
            self.nameless.add(verdict, is_first=True)
        elif len(self.ours) < self.most_ours:
            self.ours.append(call)
        else:
            self.ours_unlisted.add(verdict, is_first=True)

    def verdicts(self) -> list[JudgedLine]:
        """Judge every line in order, then every missing call. The lines of one call are compared together."""
        billed = totals(self.lines)
        judged = [
            JudgedLine(verdict=self._judged(line, billed), line=line, call=self.found.get(line.upstream_id))
            for line in self.lines
        ]
        return judged + [JudgedLine(verdict=OURS_ONLY, line=None, call=call) for call in self.ours]

    def _judged(self, line: ProviderLine, billed: Mapping[str, int]) -> str:
        call = self.found.get(line.upstream_id)
        if call is None:
            return PROVIDER_ONLY
        return MATCHED if call.own_micros == billed[line.upstream_id] else DIFFERENT


def totals(lines: Iterable[ProviderLine]) -> dict[str, int]:
    """Sum micro-USD by job: some providers write a line per image."""
    sums: dict[str, int] = {}
    for line in lines:
        sums[line.upstream_id] = sums.get(line.upstream_id, 0) + line.amount_micros
    return sums


def sums(verdicts: Iterable[JudgedLine], unlisted: VerdictSums) -> dict[str, VerdictSums]:
    """Sum up by verdict; missing calls beyond the list are included."""
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
