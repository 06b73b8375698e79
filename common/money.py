"""Money is an integer of micro-USD inside and a number of USD with at most six decimals outside."""

from decimal import ROUND_HALF_UP, Decimal

MICROS = 1_000_000
SMALLEST_FLOAT = 100
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
    """Micro-USD as the number of USD that `common/plain_json.py` writes without an exponent.

    Below 0.0001 it is a decimal, since a float of that size would be written with one.
    """
    if amount % MICROS == 0:
        return amount // MICROS
    return amount / MICROS if abs(amount) >= SMALLEST_FLOAT else (Decimal(amount) / MICROS).normalize()
