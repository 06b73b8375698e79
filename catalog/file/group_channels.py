"""The channels of a catalog file's groups: which stored channel each entry means, and writing them.

A group's list is all that it has. An entry without a name means a stored channel of its group by its address, else by
its origin, else one that is left over and moves; each channel once.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from accounts.models import Group
from catalog import credentials, groups
from catalog.fields import Problem
from catalog.file.changes import values, write
from catalog.file.specs import Document, GroupChannelSpec, GroupSpec
from catalog.models import Channel, GroupChannel
from common import urls

NAME_LENGTH = 200


def check(document: Document, *, prune: bool, channels_in_use: Collection[int]) -> list[Problem]:
    """Whether the names of channels are free: each is of one group, or of none. Pruning frees no channel that tasks
    still need (`channels_in_use`, ids)."""
    listed = {spec.name for spec in document.groups}
    links = GroupChannel.objects.select_related("channel", "group")
    owners = {link.channel.name: link.group.name for link in links if not prune or link.group.name in listed}
    staying = Channel.objects.filter(group_link=None, **({"id__in": channels_in_use} if prune else {}))
    others = set(staying.values_list("name", flat=True))
    problems = [
        (f"{spec.path}.name", f"{spec.name!r} is a channel of group {owners[spec.name]!r}: it belongs there")
        for spec in document.channels
        if spec.name in owners
    ]
    seen = {spec.name for spec in document.channels}
    for group in document.groups:
        for spec in group.channels:
            owner = owners.get(spec.name or "")
            if spec.name is not None and spec.name in seen:
                problems.append((f"{spec.path}.name", f"{spec.name!r} is there twice"))
            elif owner not in (None, group.name):
                problems.append((f"{spec.path}.name", f"{spec.name!r} is a channel of group {owner!r}"))
            elif spec.name in others and not _is_spare(spec.name):
                problems.append((f"{spec.path}.name", f"{spec.name!r} already names a channel of tasks"))
            seen.add(spec.name or "")
    return problems


def _is_spare(name: str | None) -> bool:
    """A channel of no group that no task could use: its group may take it."""
    return Channel.objects.filter(name=name, adapter__endswith="_relay", channel_models=None).exists()


def stored(group_name: str | None) -> list[GroupChannel]:
    rows = GroupChannel.objects.filter(group__name=group_name or "").select_related("channel")
    return list(rows.order_by("id"))


def match(specs: Sequence[GroupChannelSpec], links: Sequence[GroupChannel]) -> list[GroupChannel | None]:
    """For each entry the stored channel that it means."""
    left = list(links)
    found: dict[int, GroupChannel] = {}
    steps: tuple[Callable[[GroupChannelSpec, GroupChannel], bool], ...] = (
        lambda spec, link: spec.name == link.channel.name,
        lambda spec, link: spec.name is None and spec.base_url == link.channel.base_url,
        lambda spec, link: spec.name is None and urls.origin(spec.base_url or "") == urls.origin(link.channel.base_url),
        lambda spec, link: spec.name is None and spec.credentials is not None,
    )
    for is_meant in steps:
        for place, spec in enumerate(specs):
            link = next((link for link in left if is_meant(spec, link)), None)
            if place not in found and link is not None:
                found[place] = link
                left.remove(link)
    return [found.get(place) for place in range(len(specs))]


def apply(group: Group, spec: GroupSpec) -> bool:
    """Make these the group's only channels; whether anything differed."""
    links = stored(group.name)
    pairs = list(zip(spec.channels, match(spec.channels, links), strict=True))
    kept = {link.pk for _, link in pairs if link is not None}
    gone = [link.channel for link in links if link.pk not in kept]
    for channel in gone:
        channel.delete()
    names = _names(spec)
    is_changed = [_write(group, entry, link or _new(group, entry.name or next(names))) for entry, link in pairs]
    return any([*is_changed, *gone])


def _new(group: Group, name: str) -> GroupChannel:
    return GroupChannel(group=group, channel=Channel.objects.filter(name=name).first() or Channel(name=name))


def _names(spec: GroupSpec) -> Iterator[str]:
    """Free ones: `<group>-1` and on."""
    taken = {*Channel.objects.values_list("name", flat=True), *(entry.name for entry in spec.channels)}
    number = 1
    while True:
        name = f"{spec.name[: NAME_LENGTH - 1 - len(str(number))]}-{number}"
        if name not in taken:
            yield name
        number += 1


def _write(group: Group, spec: GroupChannelSpec, link: GroupChannel) -> bool:
    channel = link.channel
    is_new = link.pk is None
    fields = write(channel, {"adapter": groups.adapter(group.platform), "base_url": spec.base_url})
    fields += ["credentials"] if credentials.store_given(channel, spec.credentials) else []
    link.channel = channel  # it has its id now
    wanted: dict[str, Any] = values(spec, "priority", "weight", "dialects", "upstream_models")
    if is_new or (link.enabled and channel.enabled) != spec.enabled:
        wanted["enabled"] = spec.enabled
        fields += write(channel, {"enabled": True}) if spec.enabled else []
    fields += write(link, wanted)
    return is_new or bool(fields)


def origins(links: Sequence[GroupChannel]) -> Mapping[int, set[str]]:
    """The origins that the credentials in use of each link's channel were entered for, by the link's id."""
    found: dict[int, set[str]] = defaultdict(set)
    for link in links:
        found[link.pk] = {row.origin for row in credentials.current(link.channel_id)}
    return found
