"""Parsers of the cells of a provider's bill: amounts in common notations, and times. Pure."""

import re
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation

from common import money

UNITS = {"usd": Decimal(1), "cents": Decimal("0.01"), "micros": Decimal("0.000001")}
SIGNS = re.compile(r"(?i:US\$|USD|\$)|[\s'\u2019\u00a0\u202f]")
PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d*)?", re.ASCII)
LONGEST_AMOUNT = 60
UNIX = re.compile(r"1\d{9}(?:\.\d{1,9})?|1\d{12}", re.ASCII)
DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2})", re.ASCII)


def amount(text: str, *, unit: str, mark: str) -> int:
    """Parse an amount as micro-USD, rounded half up; a provider's credit is negative. `mark` is the decimal mark.
    Raises ValueError with a message for the operator."""
    if len(text) > LONGEST_AMOUNT:
        raise ValueError("the amount is far too long")
    written = SIGNS.sub("", text).replace("\u2212", "-")
    if mark == ",":
        written = written.translate(str.maketrans(",.", ".,"))
    if written.startswith("(") and written.endswith(")"):
        written = f"-{written[1:-1]}"
    if GROUPED.fullmatch(written):
        written = written.replace(",", "")
    if not PLAIN.fullmatch(written):
        raise ValueError(f"“{text}” is not an amount" if text else "the amount is missing")
    try:
        return money.micros(Decimal(written) * UNITS[unit])
    except (InvalidOperation, ValueError) as error:
        raise ValueError(f"“{text}” is beyond a billion USD") from error


def moment(text: str) -> datetime:
    """Parse a time: ISO 8601, `2026/11/21 09:30`, or seconds or milliseconds since 1970; UTC without a zone. Raises
    ValueError with a message for the operator."""
    if UNIX.fullmatch(text):
        return datetime.fromtimestamp(float(text) / (1000 if len(text) == 13 else 1), UTC)
    written = DATE.sub(r"\1-\2-\3", re.sub(r"\s*(?:UTC|GMT)$", "+00:00", text))
    try:
        found = datetime.fromisoformat(written)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(
            f"“{text}” is not a time such as 2026-11-21 09:30:00" if text else "the time is missing"
        ) from error


def is_usd(text: str) -> bool:
    return text.upper() in ("", "USD", "US$", "$")
