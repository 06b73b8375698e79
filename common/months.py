"""Months of the calendar in UTC, as statements have them. Pure."""

import re
from calendar import month_name
from dataclasses import dataclass
from datetime import UTC, datetime

FORM = re.compile(r"(20\d\d)-(0[1-9]|1[0-2])", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Month:
    year: int
    number: int

    def __str__(self) -> str:
        """As in addresses: `2026-11`."""
        return f"{self.year}-{self.number:02d}"

    @property
    def label(self) -> str:
        return f"{month_name[self.number]} {self.year}"

    @property
    def start(self) -> datetime:
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """The first moment that is no longer in it."""
        return self.later(1).start

    def later(self, months: int) -> "Month":
        """So many months after this one; before it where negative."""
        year, number = divmod(self.year * 12 + self.number - 1 + months, 12)
        return Month(year=year, number=number + 1)


def of(moment: datetime) -> Month:
    at = moment.astimezone(UTC)
    return Month(year=at.year, number=at.month)


def parse(text: str) -> Month:
    """The inverse of `str`. Raises ValueError."""
    found = FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no month like 2026-11")
    return Month(year=int(found[1]), number=int(found[2]))


def between(first: datetime, last: datetime, *, most: int) -> list[Month]:
    """The months from one moment to another, the latest first; so many of the latest at most."""
    found = [of(last)]
    while found[-1] > of(first) and len(found) < most:
        found.append(found[-1].later(-1))
    return found
