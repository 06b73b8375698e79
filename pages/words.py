"""How pages say money, spans of time and states: pure functions, the same for operators and customers."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from common import money
from common.money import MICROS

GROUPED = re.compile(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
CENT = MICROS // 100
STEPS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
JUST_NOW = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How a state shows: a shape that needs no colour, and the name of its colour in the stylesheet."""

    shape: str
    tone: str


QUIET, BUSY, GOOD, BAD, LATE = "quiet", "busy", "good", "bad", "late"
LOOKS = {
    **dict.fromkeys(("queued", "pending", "open", "intended", "unknown"), Look(shape="○", tone=QUIET)),
    **dict.fromkeys(("running", "submitted"), Look(shape="◐", tone=BUSY)),
    **dict.fromkeys(("succeeded", "delivered", "settled", "done", "ok", "matched", "on"), Look(shape="●", tone=GOOD)),
    **dict.fromkeys(("failed", "exhausted", "lost", "disabled"), Look(shape="✕", tone=BAD)),
    **dict.fromkeys(("timeout", "cooling down", "paused", "drained"), Look(shape="⧖", tone=LATE)),
    **dict.fromkeys(("canceled", "released", "retired"), Look(shape="–", tone=QUIET)),
}
UNKNOWN = Look(shape="·", tone=QUIET)


def look(word: str) -> Look:
    return LOOKS.get(word, UNKNOWN)


def usd(micros: int) -> str:
    """Micro-USD as USD, with at least two decimals and as many as it has: $12.50, $0.001234."""
    whole, rest = decimal(abs(micros)).split(".")
    return f"{'-' if micros < 0 else ''}${int(whole):,}.{rest}"


def decimal(micros: int) -> str:
    """The same as a plain number: 12.50, -0.001234."""
    whole, rest = divmod(abs(micros), MICROS)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' if micros < 0 else ''}{whole}.{decimals}"


def micros(text: str) -> int:
    """What people type as USD, also as `usd` writes it. A comma parts thousands and nothing else: 12,50 is no amount.
    Raises ValueError."""
    plain = text.strip().removeprefix("$")
    return money.micros(plain.replace(",", "") if GROUPED.fullmatch(plain) else plain)


def span(seconds: float) -> str:
    """A length of time by its two largest units: 0.4 s, 12 s, 3 min 5 s, 2 h 10 min, 4 d."""
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
    """A moment as people say it, by its largest unit: 3 min ago, in 2 h."""
    seconds = (now - at).total_seconds()
    if abs(seconds) < JUST_NOW:
        return "now"
    largest, unit = next((size, unit) for size, unit in STEPS if abs(seconds) >= size)
    count = f"{int(abs(seconds) // largest)} {unit}"
    return f"{count} ago" if seconds > 0 else f"in {count}"


def absolute(at: datetime | None) -> str:
    """A moment to the second, with its zone; a dash for none."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC" if at else "–"


def counted(count: int, noun: str, verb: str = "") -> str:
    """1 task waits, 2 tasks wait."""
    plural = count != 1
    return f"{count} {noun}{'s' if plural else ''}" + (f" {verb}{'' if plural else 's'}" if verb else "")
