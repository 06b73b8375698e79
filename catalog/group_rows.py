"""Reads the groups of general keys out of the tables, for the picture of the catalog."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal

from accounts.models import Group
from catalog import groups, picture_prices, token_prices
from catalog.entries import ChannelEntry
from catalog.groups import GroupChannelEntry, GroupEntry
from catalog.models import GroupChannel, GroupOffer


def read(channels: Mapping[int, ChannelEntry]) -> Iterator[GroupEntry]:
    """All groups by name, each with its enabled channels; one without an offer has no prices."""
    links: dict[int, list[GroupChannel]] = defaultdict(list)
    for link in GroupChannel.objects.filter(enabled=True, channel__enabled=True).order_by("priority", "id"):
        links[link.group_id].append(link)
    offers = {offer.group_id: offer for offer in GroupOffer.objects.all()}
    for row in Group.objects.order_by("name"):
        offer = offers.get(row.pk) or GroupOffer()
        own = groups.own_dialects(row.platform, image_generation=row.image_generation)
        yield GroupEntry(
            id=row.pk,
            name=row.name,
            platform=row.platform,
            image_generation=row.image_generation,
            models=None if offer.models_listed is None else tuple(offer.models_listed),
            extra_fields=frozenset(offer.extra_fields),
            extra_betas=frozenset(offer.extra_betas),
            tool_prices={name: Decimal(str(usd)) for name, usd in sorted(offer.tool_prices.items())},
            channels=tuple(_link(link, channels[link.channel_id], own) for link in links[row.pk]),
            prices={pattern: token_prices.of_row(pattern, price) for pattern, price in offer.prices.items()},
            image_prices={pattern: picture_prices.of_row(price) for pattern, price in offer.image_prices.items()},
        )


def _link(link: GroupChannel, channel: ChannelEntry, own: frozenset[str]) -> GroupChannelEntry:
    return GroupChannelEntry(
        id=link.pk,
        channel=channel,
        priority=link.priority,
        weight=link.weight,
        dialects=own.union(link.dialects),
        upstream_models=link.upstream_models,
    )
