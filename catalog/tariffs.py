"""What a model costs whoever calls it in a dialect: the price of its tokens, or one for each of its pictures."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from typing import Any

from catalog import token_prices
from catalog.groups import IMAGES, GroupEntry
from catalog.picture_prices import PicturePrice
from catalog.token_prices import EXACT, MostUsed, TokenPrice
from common import money
from common.errors import ModelNotFound, PricingUnavailable
from common.token_usage import TokenUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Tariff:
    """The price of one call: of its tokens, or where `picture` is there, at most that many USD for each picture; and of
    each call of a tool that the provider runs, in USD by the name of the tool.

    `pictures` has the tiers of pictures, where there are any, `asked` the size and quality that the request says.
    """

    tokens: TokenPrice | None
    picture: Decimal | None = None
    pictures: PicturePrice | None = None
    asked: tuple[str, str] = ("", "")
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
        """In micro-USD, rounded half-up once. A tool without a price costs nothing."""
        with localcontext(EXACT):
            return token_prices.rounded(self._counted(usage) + self._tools(usage.tools))

    def bound_micros(self, most: MostUsed) -> int:
        """What at most so much can cost, in micro-USD: of the tokens or of the pictures, whichever it counts, and of
        tools."""
        with localcontext(EXACT):
            return token_prices.rounded_up(self._bound(most) + self._tools(most.tools))

    def _counted(self, usage: TokenUsage) -> Decimal:
        if self.picture is not None:
            return self._picture(usage) * money.MICROS * max(usage.images, 0)
        return self.tokens.cost(usage) if self.tokens else Decimal()

    def _bound(self, most: MostUsed) -> Decimal:
        if self.picture is not None:
            return self.picture * money.MICROS * most.images
        return self.tokens.bound(most) if self.tokens else Decimal()

    def _picture(self, usage: TokenUsage) -> Decimal:
        """USD for each picture of an answer, never more than was held for one."""
        held = self.picture or Decimal()
        return min(held, self.pictures.charged((usage.size, usage.quality), self.asked)) if self.pictures else held

    def _tools(self, counts: Mapping[str, int]) -> Decimal:
        priced = ((self.tools[name], max(count, 0)) for name, count in counts.items() if name in self.tools)
        return sum((usd * money.MICROS * count for usd, count in priced), Decimal())

    def output_bound(self, requested: int | None, *, default: int) -> int:
        """Tokens that one answer has at most: the lower of the request's limit and the model's, of those that are
        there, else the default."""
        limits = (requested, self.tokens.max_output_tokens if self.tokens else None)
        return min((limit for limit in limits if limit is not None), default=default)

    def is_unlimited(self, requested: int | None) -> bool:
        """Whether tokens are paid for, and neither the request nor the price bounds those of an answer."""
        if self.picture is not None or self.tokens is None:
            return False
        return requested is None and self.tokens.max_output_tokens is None

    def is_told_by(self, usage: TokenUsage) -> bool:
        """Whether a usage says what this price counts: pictures alone say nothing of their tokens."""
        return self.picture is not None or usage.input_tokens + usage.output_tokens > 0

    def document(self) -> Mapping[str, Any]:
        """JSON, as it is frozen on the call."""
        tools = {name: format(usd, "f") for name, usd in self.tools.items()}
        return {**self._document(), **({"tools": tools} if tools else {})}

    def _document(self) -> Mapping[str, Any]:
        if self.picture is None:
            return self.tokens.document() if self.tokens else {}
        held = format(self.picture, "f")
        told = self.pictures.document() if self.pictures else held
        return {"picture": held} if isinstance(told, str) else {"picture": held, "pictures": told, "asked": self.asked}


def of(
    group: GroupEntry, dialect: str, model: str, *, size: str = "", quality: str = "", tools: Collection[str] = ()
) -> Tariff:
    """The price of the model, which says whether it may be called at all. One for a picture comes before that of
    tokens, where pictures are made; `size` and `quality` are what the request says of them, empty where it says
    nothing. `tools` are the types of the tools that the provider may run. Raises ModelNotFound, PricingUnavailable, and
    InvalidRequest for a size or quality without a price."""
    pictures = group.image_price(model) if dialect == IMAGES else None
    tokens, sold = group.token_price(model), group.tools_sold(tools)
    if pictures is not None:
        held = pictures.held(size, quality, opened=group.extra_fields)
        return Tariff(tokens=tokens, picture=held, pictures=pictures, asked=(size, quality), tools=sold)
    if tokens is not None:
        return Tariff(tokens=tokens, tools=sold)
    if model in (group.models or ()):
        words = f"The model `{model}` has no price yet."
        raise PricingUnavailable(words, headers={"x-should-retry": "false"}, param="model")
    raise not_found(model)


def not_found(model: str) -> ModelNotFound:
    """The refusal of a model that is not on offer, or that no channel has."""
    return ModelNotFound(f"The model `{model}` does not exist.", param="model")
