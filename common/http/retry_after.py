"""The Retry-After header: how long a server asks to be left alone."""

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def seconds(value: str, *, longest: float) -> float | None:
    """The wait that the header asks for, as a number of seconds or an HTTP date, within 0 and `longest`; None where it
    is illegible."""
    try:
        wait = float(value)
    except ValueError:
        wait = _until(value)
    return min(max(wait, 0.0), longest) if math.isfinite(wait) else None


def _until(date: str) -> float:
    try:
        return (parsedate_to_datetime(date) - datetime.now(UTC)).total_seconds()
    except (ValueError, TypeError, OverflowError):  # a date without a zone cannot be compared, one far off not be made
        return math.nan
