"""What a relayed call may cost at most, and what its usage costs: pure arithmetic in tokens and micro-USD."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from catalog.token_prices import TokenPrice
from common import money
from common.token_usage import TokenUsage
from relay.families.base import AskedCall

BYTES_PER_TOKEN = 4  # of text, as far as one can say


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of one call: of its tokens, or where `picture` is there, that many USD for each picture."""

    tokens: TokenPrice | None
    picture: Decimal | None = None

    def cost_micros(self, usage: TokenUsage) -> int:
        """Rounded half-up once."""
        if self.picture is not None:
            return _pictures(self.picture, usage.images)
        return self.tokens.cost_micros(usage) if self.tokens else 0

    def is_told_by(self, usage: TokenUsage) -> bool:
        """Whether a usage says what this price counts: pictures alone say nothing of their tokens."""
        return self.picture is not None or usage.input_tokens + usage.output_tokens > 0

    def document(self) -> Mapping[str, Any]:
        """JSON, as it is frozen on the call."""
        if self.picture is not None:
            return {"picture": format(self.picture, "f")}
        return self.tokens.document() if self.tokens else {}


def bound_micros(asked: AskedCall, tariff: Tariff, *, default_output: int) -> int:
    """What the call can cost at most; `default_output` tokens an answer where neither request nor model has a limit."""
    if tariff.picture is not None:
        return _pictures(tariff.picture, max(asked.images, 1))
    if tariff.tokens is None:
        return 0
    answers = max(asked.choices, asked.images, 1)
    output = answers * output_bound(asked.output_limit, tariff.tokens.max_output_tokens, default=default_output)
    return tariff.tokens.bound_micros(input_tokens=asked.input_bound, output_tokens=output)


def output_bound(requested: int | None, of_model: int | None, *, default: int) -> int:
    """Tokens that one answer has at most: the lower of the limits that are there."""
    return min((limit for limit in (requested, of_model) if limit is not None), default=default)


def estimate(asked: AskedCall, seen: TokenUsage | None, *, output_bytes: int) -> TokenUsage:
    """What a call has likely used that ended before it told all: what was seen, completed by what was delivered."""
    written = -(-output_bytes // BYTES_PER_TOKEN)
    if seen is None:
        return TokenUsage(input_tokens=asked.input_estimate, output_tokens=written)
    return replace(
        seen,
        input_tokens=seen.input_tokens or asked.input_estimate,
        output_tokens=max(seen.output_tokens, written),
    )


def _pictures(price: Decimal, count: int) -> int:
    return min(money.micros(min(price * count, Decimal(money.LARGEST // money.MICROS))), money.LARGEST)
