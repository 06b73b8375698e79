"""Formats of money, durations, times and states on all pages. Pure."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from common import money
from common.money import MICROS

GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
CENT = MICROS // 100
STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
JUST_NOW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class StateStyle:
    """Style of a state: a shape, and the name of its colour in the stylesheet."""

    shape: str
    tone: str


QUIET, BUSY, GOOD, BAD, LATE = "quiet", "busy", "good", "bad", "late"
STYLES = {
    **dict.fromkeys(("queued", "pending", "open", "intended", "unknown"), StateStyle(shape="○", tone=QUIET)),
    **dict.fromkeys(("running", "submitted"), StateStyle(shape="◐", tone=BUSY)),
    **dict.fromkeys(
        ("succeeded", "delivered", "settled", "done", "ok", "matched", "on"), StateStyle(shape="●", tone=GOOD)
    ),
    **dict.fromkeys(("failed", "exhausted", "lost", "disabled"), StateStyle(shape="✕", tone=BAD)),
    **dict.fromkeys(("timeout", "cooling down", "paused", "drained"), StateStyle(shape="⧖", tone=LATE)),
    **dict.fromkeys(("canceled", "released", "retired"), StateStyle(shape="–", tone=QUIET)),
}
UNKNOWN = StateStyle(shape="·", tone=QUIET)


def style(word: str) -> StateStyle:
    """Get the style of a state."""
    return STYLES.get(word, UNKNOWN)


def usd(micros: int) -> str:
    """Format micro-USD as exact USD with at least two decimals: $12.50, $0.001234."""
    whole, rest = decimal(abs(micros)).split(".")
    return f"{'-' if micros < 0 else ''}${int(whole):,}.{rest}"


def cents(micros: int) -> str:
    """Format micro-USD as USD to the cent, half to even; less than a cent stays exact: $212.35, $0.0012."""
    return usd(round(Decimal(micros) / CENT) * CENT if abs(micros) >= CENT else micros)


def decimal(micros: int) -> str:
    """Format micro-USD as a plain number of USD: 12.50, -0.001234."""
    whole, rest = divmod(abs(micros), MICROS)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}{whole}.{decimals}"


def micros(text: str) -> int:
    """Parse typed USD, including the format of `usd`; a comma only separates thousands, so 12,50 is invalid. Raises
    ValueError."""
    plain = text.strip().removeprefix("$")
    return money.micros(plain.replace(",", "") if GROUPED.fullmatch(plain) else plain)


def span(seconds: float) -> str:
    """Format a duration by its two largest units: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min, 4 d."""
    if seconds < 0:
        return f"-{span(-seconds)}"
    if seconds < 10:
        return f"{seconds:.1f}".removesuffix(".0") + " s"
    left = round(seconds)
    parts: list[str] = []
    for size, unit in STEPS:
        if left >= size or parts:
            parts.append(f"{left // size} {unit}" if left >= size else "")
            left %= size
    return " ".join(part for part in parts[:2] if part)


def ago(at: datetime, now: datetime) -> str:
    """Format a time relative to now, by its largest unit: 3 min ago, in 2 h."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < JUST_NOW:
        return "now"
    largest, unit = next((size, unit) for size, unit in STEPS if abs(seconds) >= size)
    count = f"{int(abs(seconds) // largest)} {unit}"
    return f"{count} ago" if seconds > 0 else f"in {count}"


def absolute(at: datetime | None) -> str:
    """Format a time to the second, with its zone; a dash for None."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "–"


def counted(count: int, noun: str, verb: str = "") -> str:
    """Count a noun: 1 task waits, 2 tasks wait."""
    plural = count != 1
    return f"{count} {noun}{'s' if plural else ''}" + (f" {verb}{'' if plural else 's'}" if verb else "")
