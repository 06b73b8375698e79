"""What a model costs whoever calls it in a dialect: the price of its tokens, or one for each of its pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from catalog.groups import IMAGES, GroupEntry
from catalog.token_prices import MostUsed, TokenPrice
from common import money
from common.errors import ModelNotFound, PricingUnavailable
from common.token_usage import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of one call: of its tokens, or where `picture` is there, that many USD for each picture; and of each
    call of a tool that the provider runs, in USD by the vendor's name of the tool."""

    tokens: TokenPrice | None
    picture: Decimal | None = None
    tools: Mapping[str, Decimal] = field(default_factory=dict)

    def has(self, amount: str) -> bool:
        """Whether the price has an optional amount (`TokenPrice.has`)."""
        return self.tokens is not None and self.tokens.has(amount)

    @property
    def image_tokens(self) -> int:
        """The most tokens of one picture in a request."""
        return self.tokens.image_tokens if self.tokens else 0

    @property
    def max_input_tokens(self) -> int | None:
        """The context of the model; None where the operator does not say."""
        return self.tokens.max_input_tokens if self.tokens else None

    def cost_micros(self, usage: TokenUsage) -> int:
        """In micro-USD, rounded half-up once."""
        if self.picture is not None:
            return _pictures(self.picture, usage.images)
        return self.tokens.cost_micros(usage) if self.tokens else 0

    def bound_micros(self, most: MostUsed) -> int:
        """What at most so much can cost, in micro-USD: of the tokens or of the pictures, whichever it counts."""
        if self.picture is not None:
            return _pictures(self.picture, most.images)
        return self.tokens.bound_micros(most) if self.tokens else 0

    def output_bound(self, requested: int | None, *, default: int) -> int:
        """Tokens that one answer has at most: the lower of the request's limit and the model's, of those that are
        there, else the default."""
        limits = (requested, self.tokens.max_output_tokens if self.tokens else None)
        return min((limit for limit in limits if limit is not None), default=default)

    def is_told_by(self, usage: TokenUsage) -> bool:
        """Whether a usage says what this price counts: pictures alone say nothing of their tokens."""
        return self.picture is not None or usage.input_tokens + usage.output_tokens > 0

    def document(self) -> Mapping[str, Any]:
        """JSON, as it is frozen on the call."""
        if self.picture is not None:
            return {"picture": format(self.picture, "f")}
        return self.tokens.document() if self.tokens else {}


def of(group: GroupEntry, dialect: str, model: str, *, size: str = "", quality: str = "") -> Tariff:
    """The price of the model, which says whether it may be called at all. One for a picture comes before that of
    tokens, where pictures are made; `size` and `quality` are what the request says of them, empty where it says
    nothing. Raises ModelNotFound, PricingUnavailable, and InvalidRequest for a size or quality without a price."""
    picture = group.image_price(model) if dialect == IMAGES else None
    tokens = group.token_price(model)
    if picture is not None or tokens is not None:
        return Tariff(tokens=tokens, picture=picture, tools=group.tool_prices)
    if model in (group.models or ()):
        words = f"The model `{model}` has no price yet."
        raise PricingUnavailable(words, headers={"x-should-retry": "false"}, param="model")
    raise ModelNotFound(f"The model `{model}` does not exist.", param="model")


def _pictures(price: Decimal, count: int) -> int:
    return min(money.micros(min(price * count, Decimal(money.LARGEST // money.MICROS))), money.LARGEST)
