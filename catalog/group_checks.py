"""Says what is wrong with the groups of general keys, for `doctor` and for the warnings of a loaded catalog file."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from adapters import registry
from catalog import groups, model_patterns
from catalog.groups import GroupEntry
from catalog.models import GroupChannel
from catalog.snapshot import Catalog

VERSIONS = ("/v1", "/v1beta")


def problems(catalog: Catalog) -> list[str]:
    """One sentence per problem. What is wrong with the credentials of its channels is said of each channel."""
    found = [problem for group in catalog.groups() for problem in of_group(group)]
    return [*found, *_idle(catalog)]


def of_group(group: GroupEntry) -> list[str]:
    """Those of one group."""
    return [f"group {group.name} {problem}" for problem in (*_group(group), *_prices(group))]


def _group(group: GroupEntry) -> Iterator[str]:
    if not group.channels:
        yield "has no enabled channel"
    if not group.prices and not group.image_prices:
        yield "has no prices: no model can be called"
    unpriced = [name for name in group.models or () if not group.token_price(name) and group.image_price(name) is None]
    if unpriced:
        yield f"lists models that have no price: {', '.join(unpriced)}"
    if group.image_generation and group.platform != "openai":
        yield f"allows images, which are made on the platform openai alone, not on {group.platform}"
    for link in group.channels:
        wanted = groups.adapter(group.platform)
        if link.channel.adapter != wanted:
            yield f"needs the adapter {wanted} of its channel {link.channel.name}, which has {link.channel.adapter}"
        path = urlsplit(link.channel.base_url).path
        if group.platform == "openai" and not path:
            yield f"has a channel {link.channel.name} whose base_url lacks the version, such as /v1"
        if group.platform != "openai" and path.endswith(VERSIONS):
            yield f"has a channel {link.channel.name} whose base_url ends in {path.rpartition('/')[2]}: leave that away"


def _prices(group: GroupEntry) -> Iterator[str]:
    """What may be sold that nobody meant to sell, or held by a guess."""
    patterns = sorted({*group.prices, *group.image_prices})
    if group.models is not None:
        more = [pattern for pattern in patterns if model_patterns.is_wild(pattern) or pattern not in group.models]
        if more:
            yield f"prices models that it does not list: {', '.join(more)}"
    endless = [price for _, price in sorted(group.prices.items()) if price.max_output_tokens is None]
    if texts := [price.pattern for price in endless if price.image_output == price.output]:
        yield f"has prices without max_output_tokens, so that RELAY_OUTPUT_TOKENS are reserved: {', '.join(texts)}"
    if pictures := [price.pattern for price in endless if price.image_output != price.output]:
        words = "so that RELAY_OUTPUT_TOKENS are reserved for each picture, whatever it takes"
        yield f"has prices of pictures without max_output_tokens, {words}: {', '.join(pictures)}"


def _idle(catalog: Catalog) -> Iterator[str]:
    """Channels that could serve a group only, and serve none."""
    linked = set(GroupChannel.objects.values_list("channel_id", flat=True))
    for channel in catalog.channels():
        adapter = registry.get(channel.adapter)
        if channel.enabled and adapter is not None and not adapter.modalities and channel.id not in linked:
            yield f"no group has the channel {channel.name}, and its adapter {channel.adapter} runs no tasks"
