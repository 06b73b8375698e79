"""What tokens cost: a group's price for the models of one pattern, what usage costs by it, and what it can at most.

USD per million tokens are micro-USD per token, so that costs need no conversion.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any

from common import money
from common.token_usage import TokenUsage

INPUTS = ("input", "cached_input", "cache_write", "cache_write_1h", "audio_input", "image_input")
OUTPUTS = ("output", "image_output", "audio_output")
AMOUNTS = ("input", "output", *INPUTS[1:], *OUTPUTS[1:])
SOLD_APART = ("cache_write_1h", "audio_input", "audio_output")
"""Amounts without which there is nothing of their kind to buy; any other costs what input or output does."""
NOT_ALWAYS_USED = frozenset({*SOLD_APART, "image_input"})
"""Those that a call may use only where its request has something of their kind."""
COUNTS = ("image_tokens", "max_input_tokens", "max_output_tokens")
IMAGE_TOKENS = 16_384
"""The most tokens of one picture in a request, where the price does not say."""
EXACT = Context(prec=80)
SMALLEST = Decimal(1).scaleb(-12)


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
    does not say. `long_context` holds for all tokens of a call with more input than it says. `is_cache_priced`: the
    operator says what cached input costs.
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
    long_context: "LongContext | None" = None
    is_cache_priced: bool = True
    image_tokens: int = IMAGE_TOKENS
    max_input_tokens: int | None = None
    max_output_tokens: int | None = None

    def has(self, amount: str) -> bool:
        """Whether an amount is sold: `audio_input`, `audio_output` and `cache_write_1h` may not be."""
        return getattr(self, amount) is not None

    def cost_micros(self, usage: TokenUsage) -> int:
        """What was used costs this much, in micro-USD, rounded half-up once."""
        return rounded(self.cost(usage))

    def bound_micros(self, most: MostUsed) -> int:
        """What at most so many tokens can cost, whatever kinds they are of, in micro-USD, rounded up."""
        return rounded_up(self.bound(most))

    def cost(self, usage: TokenUsage) -> Decimal:
        """In micro-USD, exactly. Parts are taken from the whole in this order, each at most what is left of it: of the
        input cached, written, written for an hour, sound, pictures; of the output pictures, sound. A part that is not
        sold costs as the one that it is nearest to: where a cache has no price of its own, what came from it costs as
        sound and pictures do, if that is more."""
        price = self.at(usage.input_tokens)
        hour = price.cache_write if price.cache_write_1h is None else price.cache_write_1h
        heard = price.input if price.audio_input is None else price.audio_input
        spoken = price.output if price.audio_output is None else price.audio_output
        cached = (usage.cached_tokens, price.cached_input)
        written = ((usage.cache_write_tokens, price.cache_write), (usage.cache_write_1h_tokens, hour))
        kinds = ((usage.audio_input_tokens, heard), (usage.image_input_tokens, price.image_input))
        kept = ((usage.cached_kinds.get("audio", 0), heard), (usage.cached_kinds.get("image", 0), price.image_input))
        outputs = ((usage.image_tokens, price.image_output), (usage.audio_output_tokens, spoken))
        with localcontext(EXACT):
            inputs = _divided(usage.input_tokens, price.input, (cached, *written, *kinds))
            if not price.is_cache_priced:
                inputs = max(inputs, _divided(usage.input_tokens, price.input, (*written, *kinds, *kept, cached)))
            return inputs + _divided(usage.output_tokens, price.output, outputs)

    def bound(self, most: MostUsed) -> Decimal:
        """In micro-USD, exactly: all input and all output at the dearest of the amounts that may be used."""
        price = self.at(most.input_tokens)
        with localcontext(EXACT):
            return most.input_tokens * price.dearest(INPUTS, most) + most.output_tokens * price.dearest(OUTPUTS, most)

    def at(self, input_tokens: int) -> "TokenPrice":
        """The price of a call with so much input."""
        long = self.long_context
        return long.price if long is not None and input_tokens > long.above else self

    def dearest(self, amounts: tuple[str, ...], most: MostUsed) -> Decimal:
        """The highest of those that a call may use."""
        names = (name for name in amounts if name not in NOT_ALWAYS_USED or name in most.amounts)
        used: list[Decimal | None] = [getattr(self, name) for name in names]
        return max(amount for amount in used if amount is not None)

    def amounts(self) -> dict[str, Decimal]:
        """Those that are sold, by name."""
        return {name: getattr(self, name) for name in AMOUNTS if self.has(name)}

    def document(self) -> dict[str, Any]:
        """JSON: the price as it is frozen on a call."""
        long = self.long_context
        counts = {name: getattr(self, name) for name in COUNTS}
        above = {} if long is None else {"long_context": {"above": long.above, **_plain(long.price)}}
        return {"pattern": self.pattern, **_plain(self), **counts, **above}


@dataclass(frozen=True, slots=True, kw_only=True)
class LongContext:
    """The price of all tokens of a call whose input has more than `above`; no amount is below the usual one."""

    above: int
    price: TokenPrice


def of_row(pattern: str, stored: Mapping[str, Any]) -> TokenPrice:
    """The price as an offer's row has it: what is absent costs as much as what it is a part of."""
    named = _named(stored)
    price = TokenPrice(
        pattern=pattern,
        **{name: named["input"] for name in INPUTS if name not in SOLD_APART}
        | {name: named["output"] for name in OUTPUTS if name not in SOLD_APART}
        | named,
        is_cache_priced="cached_input" in stored,
        image_tokens=stored.get("image_tokens", IMAGE_TOKENS),
        max_input_tokens=stored.get("max_input_tokens"),
        max_output_tokens=stored.get("max_output_tokens"),
    )
    long = stored.get("long_context")
    return replace(price, long_context=_long_context(price, long)) if long else price


def _long_context(price: TokenPrice, stored: Mapping[str, Any]) -> LongContext:
    """What it does not name costs more in the same ratio as input or output, of which it is a part."""
    named = _named(stored)
    amounts = {}
    for whole, parts in (("input", INPUTS), ("output", OUTPUTS)):
        base = getattr(price, whole)
        for name in filter(price.has, parts):
            usual = getattr(price, name)
            amounts[name] = max(usual, named.get(name, _scaled(usual, base, named.get(whole, base))))
    return LongContext(above=stored["above"], price=replace(price, **amounts))


def _scaled(usual: Decimal, base: Decimal, long: Decimal) -> Decimal:
    with localcontext(EXACT):
        return (usual * long / base if base else long).quantize(SMALLEST, rounding=ROUND_CEILING)


def _named(stored: Mapping[str, Any]) -> dict[str, Any]:
    return {name: Decimal(str(stored[name])) for name in AMOUNTS if name in stored}


def _plain(price: TokenPrice) -> dict[str, str]:
    return {name: format(amount, "f") for name, amount in price.amounts().items()}


def _divided(total: int, usual: Decimal, parts: tuple[tuple[int, Decimal], ...]) -> Decimal:
    """What a whole costs whose parts have prices of their own."""
    left, cost = max(total, 0), Decimal()
    for count, amount in parts:
        taken = min(max(count, 0), left)
        left -= taken
        cost += taken * amount
    return cost + left * usual


def rounded(micros: Decimal) -> int:
    """Whole micro-USD of a cost, half-up, at most what a column holds: who pays so much has no such balance."""
    return _whole(micros, ROUND_HALF_UP)


def rounded_up(micros: Decimal) -> int:
    """Whole micro-USD of a bound."""
    return _whole(micros, ROUND_CEILING)


def _whole(micros: Decimal, rounding: str) -> int:
    return int(min(micros, Decimal(money.LARGEST)).quantize(Decimal(1), rounding=rounding))
