"""What a model costs whoever calls it in a dialect: the price of its tokens, or one for each of its pictures."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from catalog.groups import IMAGES, GroupEntry
from catalog.token_prices import TokenPrice
from common import money
from common.errors import ModelNotFound, PricingUnavailable
from common.token_usage import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of one call: of its tokens, or where `picture` is there, that many USD for each picture."""

    tokens: TokenPrice | None
    picture: Decimal | None = None

    def cost_micros(self, usage: TokenUsage) -> int:
        """In micro-USD, rounded half-up once."""
        if self.picture is not None:
            return _pictures(self.picture, usage.images)
        return self.tokens.cost_micros(usage) if self.tokens else 0

    def bound_micros(self, *, input_tokens: int, output_tokens: int, pictures: int) -> int:
        """What at most so much can cost, in micro-USD: of the tokens or of the pictures, whichever it counts."""
        if self.picture is not None:
            return _pictures(self.picture, pictures)
        if self.tokens is None:
            return 0
        return self.tokens.bound_micros(input_tokens=input_tokens, output_tokens=output_tokens)

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


def of(group: GroupEntry, dialect: str, model: str) -> Tariff:
    """The price of the model, which says whether it may be called at all. One for a picture comes before that of
    tokens, where pictures are made. Raises ModelNotFound, PricingUnavailable."""
    picture = group.image_price(model) if dialect == IMAGES else None
    tokens = group.token_price(model)
    if picture is not None or tokens is not None:
        return Tariff(tokens=tokens, picture=picture)
    if model in (group.models or ()):
        words = f"The model `{model}` has no price yet."
        raise PricingUnavailable(words, headers={"x-should-retry": "false"}, param="model")
    raise ModelNotFound(f"The model `{model}` does not exist.", param="model")


def _pictures(price: Decimal, count: int) -> int:
    return min(money.micros(min(price * count, Decimal(money.LARGEST // money.MICROS))), money.LARGEST)
