"""Spending of a key in a month by day and model, summed up from the ledger."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from itertools import groupby
from operator import attrgetter
from typing import Any

from accounts.authentication import Caller
from billing import modes
from common import sql
from common.months import Month
from console.usage import entries
from pages import words

TENTH = Decimal("0.1")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpendingPart:
    """Charges or refunds of one day, model and price, in micro-USD. `unit_micros` is the price of one unit of `mode`;
    both are None if a task's price lacks them."""

    day: str
    model: str
    modality: str
    kind: str
    mode: str | None
    unit_micros: int | None
    count: int
    micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Spend:
    """Spending of one day, model or month: charges, and refunds in the same time."""

    name: str
    modality: str
    charges: int
    charged_micros: int
    refunded_micros: int
    units: str

    @property
    def spent_micros(self) -> int:
        return self.charged_micros - self.refunded_micros

    @property
    def average_micros(self) -> int | None:
        """Compute the average charge; None without charges."""
        return round(self.charged_micros / self.charges) if self.charges else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthSpend:
    """Spending of a month: `days` with the latest first, `models` with the most expensive first; unused ones are left
    out."""

    month: Month
    total: Spend
    days: tuple[Spend, ...]
    models: tuple[Spend, ...]

    def on(self, day: str) -> int:
        """Get the spending of a day (2026-11-21)."""
        return next((spend.spent_micros for spend in self.days if spend.name == day), 0)


def read(caller: Caller, month: Month) -> MonthSpend:
    """Read the spending in one statement after two look-ups."""
    rows = sql.records(
        PARTS.format(
            day=sql.utc_day("e.at"), mode=sql.json_text("t.price", "mode"), unit=sql.json_text("t.price", "unit_micros")
        ),
        entries.within(caller, month.start, month.end),
    )
    parts = [_part(row) for row in rows]
    models = _grouped(parts, attrgetter("model"))
    return MonthSpend(
        month=month,
        total=_spend(str(month), parts),
        days=tuple(reversed(_grouped(parts, attrgetter("day")))),
        models=tuple(sorted(models, key=lambda spend: (-spend.spent_micros, spend.name))),
    )


def _part(row: Any) -> SpendingPart:
    return SpendingPart(
        day=row.day,
        model=row.model_name,
        modality=row.modality,
        kind=row.kind,
        mode=row.mode,
        unit_micros=None if row.unit is None else int(row.unit),
        count=int(row.n),
        micros=int(row.amount),
    )


def _grouped(parts: Iterable[SpendingPart], by: Callable[[SpendingPart], str]) -> list[Spend]:
    """Group parts, sorted by name."""
    return [_spend(name, list(group)) for name, group in groupby(sorted(parts, key=by), by)]


def _spend(name: str, parts: list[SpendingPart]) -> Spend:
    charges = [part for part in parts if part.kind == "charge"]
    return Spend(
        name=name,
        modality=parts[0].modality if parts else "",
        charges=sum(part.count for part in charges),
        charged_micros=-sum(part.micros for part in charges),
        refunded_micros=sum(part.micros for part in parts if part.kind == "refund"),
        units=", ".join(_units(charges)),
    )


def _units(charges: list[SpendingPart]) -> Iterable[str]:
    """Yield the charged units in words: 41 pictures, 12.5 seconds."""
    sums: dict[str, Decimal] = {}
    for part in charges:
        if part.mode in modes.BY_NAME and part.unit_micros:
            sums[part.mode] = sums.get(part.mode, Decimal()) - Decimal(part.micros) / part.unit_micros
    for mode in modes.TABLE:
        if mode.name in sums:
            count = sums[mode.name].quantize(TENTH)
            whole = int(count)
            yield words.counted(whole, mode.page_noun) if count == whole else f"{count} {mode.page_noun}s"


PARTS = f"""
SELECT {{day}} AS day, t.model_name, t.modality, e.kind, {{mode}} AS mode, {{unit}} AS unit, count(*) AS n,
    CAST(sum(e.amount_micros) AS bigint) AS amount
FROM {entries.WITHIN} GROUP BY 1, 2, 3, 4, 5, 6
"""
