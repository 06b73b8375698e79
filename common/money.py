"""Money is an integer of micro-USD inside and a number of USD with at most six decimals outside.

`json` writes a float below 0.0001 with an exponent, and no decimal at all, so small amounts are decimals. `dumps` marks
them as strings until the text is whole, which then loses marks and quotes. No other string begins with the mark, a NUL:
requests are refused with one, and PostgreSQL stores none. So `json` stays as fast as it is.
"""

import json
import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

MICROS = 1_000_000
SMALLEST_FLOAT = 100
MARK = "\0"
MARKED = re.compile(r'"\\u0000(-?[0-9]+(?:\.[0-9]+)?)"')
LARGEST = 10**15  # a billion USD: far below what a 64-bit column or a double holds exactly


def micros(usd: Decimal | int | float | str) -> int:
    """USD to micro-USD, rounded half-up once. Raises ValueError for what is no finite amount of sane size."""
    try:
        amount = Decimal(str(usd)) * MICROS
        whole = int(amount.quantize(Decimal(1), rounding=ROUND_HALF_UP))
    except (ArithmeticError, ValueError) as error:
        raise ValueError(f"{usd!r} is not an amount of money") from error
    if abs(whole) > LARGEST:
        raise ValueError(f"{usd!r} is beyond a billion USD")
    return whole


def times(price: Decimal | int | float | str, multiplier: Decimal) -> int:
    """A unit price in USD under a plan's multiplier, in micro-USD, rounded half-up once."""
    return micros(Decimal(str(price)) * multiplier)


def usd(amount: int) -> float | int | Decimal:
    """Micro-USD as the number of USD that `dumps` writes without an exponent.

    Below 0.0001 it is a decimal, since a float of that size would be written with one.
    """
    if amount % MICROS == 0:
        return amount // MICROS
    return amount / MICROS if abs(amount) >= SMALLEST_FLOAT else (Decimal(amount) / MICROS).normalize()


class PlainEncoder(json.JSONEncoder):
    """For `json.dumps(…, cls=PlainEncoder)`. Other types than JSON's and decimals are a TypeError."""

    has_marks = False  # so that a text without decimals is not searched

    def default(self, o: Any) -> Any:
        if isinstance(o, Decimal):
            self.has_marks = True
            return f"{MARK}{o:f}"
        return super().default(o)

    def encode(self, o: Any) -> str:
        text = super().encode(o)
        return MARKED.sub(r"\1", text) if self.has_marks else text


def dumps(document: Any, **options: Any) -> str:
    """JSON as the service writes it: as `json.dumps` does with these options, and with decimals as plain numbers."""
    return json.dumps(document, cls=PlainEncoder, **options)
