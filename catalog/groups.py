"""What a group of general keys is offered: its channels by priority, its prices, and the dialects that it speaks."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from catalog import dearer_prices, model_patterns
from catalog.entries import ChannelEntry
from catalog.picture_prices import PicturePrice
from catalog.token_prices import TokenPrice
from common import tool_names

IMAGES = "images"
OWN_DIALECTS: Mapping[str, frozenset[str]] = {
    "openai": frozenset({"chat", "responses"}),
    "anthropic": frozenset({"messages"}),
    "gemini": frozenset({"generate_content"}),
}
"""What the channels of a group speak without saying so, by its platform; with `images` where it allows them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupChannelEntry:
    """A channel as a group uses it. `dialects` are all that it speaks there, the platform's own among them.
    `upstream_models` are other names that models have there, by their public ones."""

    id: int
    channel: ChannelEntry
    priority: int
    weight: int
    dialects: frozenset[str]
    upstream_models: Mapping[str, str] = field(default_factory=dict)

    def upstream_model(self, model: str) -> str:
        """The name that a model has there."""
        return self.upstream_models.get(model, model)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEntry:
    """A group with its enabled channels, by priority, then id. `models` only lists: what may be called is what has a
    price. `extra_fields` are names of fields, `extra_betas` values of `anthropic-beta`, that pass though they may cost
    beyond the prices. `tool_prices` are USD for one call of a tool that the provider runs, by the vendor's name, with
    or without a version."""

    id: int
    name: str
    platform: str
    image_generation: bool
    models: tuple[str, ...] | None = None
    extra_fields: frozenset[str] = frozenset()
    extra_betas: frozenset[str] = frozenset()
    tool_prices: Mapping[str, Decimal] = field(default_factory=dict)
    channels: tuple[GroupChannelEntry, ...] = ()
    prices: Mapping[str, TokenPrice] = field(default_factory=dict)
    image_prices: Mapping[str, PicturePrice] = field(default_factory=dict)

    def token_price(self, model: str) -> TokenPrice | None:
        """The price of this model's tokens; without one it cannot be called for text."""
        held = model_patterns.holding(self.prices, model)
        return dearer_prices.of_tokens([self.prices[pattern] for pattern in held])

    def image_price(self, model: str) -> PicturePrice | None:
        """The price of one picture of this model; it counts for the Images API only."""
        held = model_patterns.holding(self.image_prices, model)
        return dearer_prices.of_pictures([self.image_prices[pattern] for pattern in held])

    def tool_price(self, kind: str) -> Decimal | None:
        """The price of one call of a tool of this type, in USD: its own, else that of the tool of which it is a
        version; without one the tool is refused."""
        return next((self.tool_prices[name] for name in tool_names.spellings(kind) if name in self.tool_prices), None)

    def tools_sold(self, kinds: Iterable[str]) -> dict[str, Decimal]:
        """The prices of tools of these types by the tool's name; of one in several versions the dearest."""
        sold: dict[str, Decimal] = {}
        for kind in kinds:
            if (usd := self.tool_price(kind)) is not None:
                name = tool_names.family(kind)
                sold[name] = max(usd, sold.get(name, usd))
        return sold

    @property
    def dialects(self) -> frozenset[str]:
        """All that any channel speaks, and the platform's own though there were none."""
        own = own_dialects(self.platform, image_generation=self.image_generation)
        return own.union(*(link.dialects for link in self.channels))


def adapter(platform: str) -> str:
    """The adapter of a group's channels (`adapters/relay/adapter.py`)."""
    return f"{platform}_relay"


def own_dialects(platform: str, *, image_generation: bool) -> frozenset[str]:
    """Those of a platform, by what its group allows. Images are made on the platform openai alone."""
    own = OWN_DIALECTS.get(platform, frozenset())
    return own | {IMAGES} if image_generation and platform == "openai" else own
