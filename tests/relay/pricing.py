"""Prices and asked calls that the relay's tests share."""

from decimal import Decimal
from typing import Any

from catalog.tariffs import Tariff
from catalog.token_prices import TokenPrice
from relay.families.base import AskedCall

# Micro-USD a token: 2 in, 8 out.
PRICE = TokenPrice(
    pattern="*",
    input=Decimal(2),
    output=Decimal(8),
    cached_input=Decimal("0.5"),
    cache_write=Decimal(3),
    image_output=Decimal(40),
    image_input=Decimal(2),
    max_output_tokens=None,
)
TOKENS = Tariff(tokens=PRICE)
PICTURES = Tariff(tokens=PRICE, picture=Decimal("0.04"))


def asked(**changed: Any) -> AskedCall:
    """1,000 tokens at most, 250 likely."""
    return AskedCall(**{"model": "m", "is_stream": True, "input_bound": 1000, "input_estimate": 250, **changed})
