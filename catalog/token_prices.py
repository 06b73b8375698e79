"""What tokens cost: a group's price for the models of one pattern, and which pattern holds for a model.

USD per million tokens are micro-USD per token, so that costs need no conversion.
"""

import fnmatch
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Any

from common import money
from common.token_usage import TokenUsage

AMOUNTS = ("input", "output", "cached_input", "cache_write", "image_output")
IMAGE_TOKENS = 16_384
"""The most tokens of one picture in a request, where the price does not say."""
LONGEST_NAME = 300  # a name that a client sends: a longer one names no model


@dataclass(frozen=True, slots=True, kw_only=True)
class MostUsed:
    """The most that a call can use. `amounts` are the optional amounts of the price that it may use, `tools` the most
    calls of each tool that the provider may run."""

    input_tokens: int = 0
    output_tokens: int = 0
    images: int = 0
    amounts: frozenset[str] = frozenset()
    tools: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenPrice:
    """The price of the models whose names fit `pattern`, in USD per million tokens.

    An optional amount is None where the operator sells none of it. `image_tokens` are the most that one picture in a
    request can be. `max_input_tokens` (the context) and `max_output_tokens` (of one answer) are None where the operator
    does not say.
    """

    pattern: str
    input: Decimal
    output: Decimal
    cached_input: Decimal
    cache_write: Decimal
    image_output: Decimal
    image_input: Decimal
    cache_write_1h: Decimal | None = None
    audio_input: Decimal | None = None
    audio_output: Decimal | None = None
    image_tokens: int = IMAGE_TOKENS
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None

    def has(self, amount: str) -> bool:
        """Whether an optional amount is sold: `audio_input`, `audio_output` or `cache_write_1h`."""
        return getattr(self, amount) is not None

    def cost_micros(self, usage: TokenUsage) -> int:
        """What was used costs this much, in micro-USD, rounded half-up once."""
        cached = min(usage.cached_tokens, usage.input_tokens)
        written = min(usage.cache_write_tokens, usage.input_tokens - cached)
        pictured = min(usage.image_tokens, usage.output_tokens)
        parts = (
            (usage.input_tokens - cached - written) * self.input,
            cached * self.cached_input,
            written * self.cache_write,
            (usage.output_tokens - pictured) * self.output,
            pictured * self.image_output,
        )
        return _whole(sum(parts, Decimal()), ROUND_HALF_UP)

    def bound_micros(self, most: MostUsed) -> int:
        """What at most so many tokens can cost, whatever kinds they are of, in micro-USD, rounded up."""
        dearest_input = max(self.input, self.cached_input, self.cache_write)
        dearest_output = max(self.output, self.image_output)
        return _whole(most.input_tokens * dearest_input + most.output_tokens * dearest_output, ROUND_CEILING)

    def document(self) -> dict[str, Any]:
        """JSON: the price as it is frozen on a call."""
        amounts = {name: format(getattr(self, name), "f") for name in AMOUNTS}
        return {"pattern": self.pattern, **amounts, "max_output_tokens": self.max_output_tokens}


def of_row(pattern: str, stored: Mapping[str, Any]) -> TokenPrice:
    """The price as an offer's row has it: what is absent costs as much as what it is a part of."""
    paid, made = Decimal(str(stored["input"])), Decimal(str(stored["output"]))
    return TokenPrice(
        pattern=pattern,
        input=paid,
        output=made,
        cached_input=Decimal(str(stored.get("cached_input", paid))),
        cache_write=Decimal(str(stored.get("cache_write", paid))),
        image_output=Decimal(str(stored.get("image_output", made))),
        image_input=Decimal(str(stored.get("image_input", paid))),
        max_output_tokens=stored.get("max_output_tokens"),
    )


def best(patterns: Collection[str], name: str) -> str | None:
    """The pattern that holds for a model: its exact name, else the one with the most literal characters that fits it.

    `*` stands for any characters, `?` for one; case counts.
    """
    if len(name) > LONGEST_NAME:
        return None
    if name in patterns:
        return name
    return max((pattern for pattern in patterns if _glob(pattern).match(name)), key=_rank, default=None)


def _rank(pattern: str) -> tuple[int, int, str]:
    wild = pattern.count("*")
    return len(pattern) - wild - pattern.count("?"), -wild, pattern


@lru_cache(maxsize=10_000)
def _glob(pattern: str) -> re.Pattern[str]:
    """Of a pattern of the operator; never of a name that a client sent."""
    return re.compile(fnmatch.translate(pattern.replace("[", "[[]")))


def _whole(micros: Decimal, rounding: str) -> int:
    """Whole micro-USD, at most what a column holds: who pays so much has no such balance."""
    return int(min(micros, Decimal(money.LARGEST)).quantize(Decimal(1), rounding=rounding))
