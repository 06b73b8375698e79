"""A task's price as its customer and the operators read it."""

from billing.pricing import Price
from common.documents import Unreadable
from common.redaction import clean
from pages import words


def agreed(frozen: object) -> str:
    """What was agreed at the submission: $0.04 per image at 1K, × 2. Empty where this version cannot read it."""
    try:
        price = Price.frozen(frozen)
    except Unreadable:
        return ""
    tier = "" if price.tier == "*" else f" at {price.tier}"
    times = f", × {price.quantity}" if price.quantity != 1 else ""
    return clean(f"{words.usd(price.unit_micros)} per {price.pricing_mode.noun}{tier}{times}")
