"""Which part of a key's spending a page is asked for: a month, and in it a day or a model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from common import months
from common.errors import TaskNotFound
from common.months import Month

NO_MONTH = "That is no month. Months are written like 2026-11."
NO_DAY = "That is no day. Days are written like 2026-11-21."
NO_PAGE = "There is no such page of charges."
PAGE = re.compile("[1-9][0-9]{0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`day` and `model` narrow the list of charges, of which this is a page; the sums are of the whole month."""

    month: Month
    day: date | None = None
    model: str = ""
    page: int = 1

    def _query(self, page: int) -> str:
        """The same with another page, as an address has it."""
        span = {"day": self.day.isoformat()} if self.day else {"month": str(self.month)}
        return urlencode({**span, **({"model": self.model} if self.model else {}), "page": page})

    @property
    def earlier(self) -> str:
        return self._query(self.page + 1)

    @property
    def later(self) -> str:
        return self._query(self.page - 1)


def read(query: Mapping[str, str], now: datetime) -> Asked:
    """Of a page's query; the running month where it names none. Raises TaskNotFound for what is none."""
    model, page = query.get("model", ""), _page(query.get("page", "1"))
    if text := query.get("day"):
        return Asked(month=month(text[:7]), day=_day(text), model=model, page=page)
    text = query.get("month", "")
    return Asked(month=month(text) if text else months.of(now), model=model, page=page)


def month(text: str) -> Month:
    """Raises TaskNotFound."""
    try:
        return months.parse(text)
    except ValueError as error:
        raise TaskNotFound(NO_MONTH) from error


def _page(text: str) -> int:
    if not PAGE.fullmatch(text):
        raise TaskNotFound(NO_PAGE)
    return int(text)


def _day(text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError as error:
        raise TaskNotFound(NO_DAY) from error
    if found.isoformat() != text:
        raise TaskNotFound(NO_DAY)
    return found
