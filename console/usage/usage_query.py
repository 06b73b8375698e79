"""Query of a usage page: a month, and in it a day or a model."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import urlencode

from common import months
from common.errors import TaskNotFound
from common.months import Month

NO_MONTH = "This is not a month. Write months like 2026-11."
NO_DAY = "This is not a day. Write days like 2026-11-21."
NO_PAGE = "There is no such page of charges."
PAGE = re.compile("[1-9][0-9]{0,3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageQuery:
    """Query of a usage page. `day`, `model` and `page` select the listed charges; the sums cover the whole month."""

    month: Month
    day: date | None = None
    model: str = ""
    page: int = 1

    def _query(self, page: int) -> str:
        """Build the query string of another page."""
        span = {"day": self.day.isoformat()} if self.day else {"month": str(self.month)}
        return urlencode({**span, **({"model": self.model} if self.model else {}), "page": page})

    @property
    def earlier(self) -> str:
        return self._query(self.page + 1)

    @property
    def later(self) -> str:
        return self._query(self.page - 1)


def read(query: Mapping[str, str], now: datetime) -> UsageQuery:
    """Parse a query; without a month, use the running one. Raises TaskNotFound for an invalid value."""
    model, page = query.get("model", ""), _page(query.get("page", "1"))
    if text := query.get("day"):
        return UsageQuery(month=month(text[:7]), day=_day(text), model=model, page=page)
    text = query.get("month", "")
    return UsageQuery(month=month(text) if text else months.of(now), model=model, page=page)


def month(text: str) -> Month:
    """Parse a month. Raises TaskNotFound."""
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
