"""A group as the relay sees it: prices by pattern, and the dialects that its channels speak."""

from catalog import groups, picture_prices, token_prices
from catalog.entries import ChannelEntry
from catalog.groups import GroupChannelEntry, GroupEntry


def channel(platform: str, *further: str, image_generation: bool = False) -> GroupChannelEntry:
    own = groups.own_dialects(platform, image_generation=image_generation)
    entry = ChannelEntry(
        id=1,
        name="text-1",
        adapter=f"{platform}_relay",
        base_url="https://llm.example",
        options={},
        max_running=None,
        enabled=True,
    )
    return GroupChannelEntry(id=1, channel=entry, priority=10, weight=1, dialects=own | set(further))


def test_a_group_speaks_what_its_platform_and_its_channels_speak() -> None:
    bare = GroupEntry(id=1, name="text", platform="anthropic", image_generation=True)
    assert bare.dialects == {"messages"}
    both = GroupEntry(
        id=1, name="text", platform="gemini", image_generation=False, channels=(channel("gemini", "chat"),)
    )
    assert both.dialects == {"generate_content", "chat"}
    assert channel("openai", image_generation=True).dialects == {"chat", "responses", "images"}


def test_a_price_is_that_of_the_best_pattern() -> None:
    prices = {
        pattern: token_prices.of_row(pattern, {"input": amount, "output": "1"})
        for pattern, amount in {"gpt-*": "1", "gpt-5.2": "2"}.items()
    }
    entry = GroupEntry(
        id=1,
        name="text",
        platform="openai",
        image_generation=True,
        prices=prices,
        image_prices={"gpt-image-*": picture_prices.of_row("0.04")},
    )
    found = [entry.token_price(name) for name in ("gpt-5.2", "gpt-5.3", "o3")]
    assert [price and (price.pattern, price.input) for price in found] == [("gpt-5.2", 2), ("gpt-*", 1), None]
    assert entry.image_price("gpt-5.2") is None
    assert entry.image_price("gpt-image-2") == picture_prices.of_row("0.04")
