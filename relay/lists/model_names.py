"""Finds the models that a group's list shows: those that it names, else the priced ones of its channels' own lists.

A list never fails: models of a provider that does not answer in time are left out. Answers are kept for a minute in
this process, or until the catalog changes.
"""

import asyncio
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from catalog import relay_channels
from catalog.groups import GroupChannelEntry, GroupEntry
from catalog.relay_channels import Candidate, ChannelQuery
from common.concurrency import threads
from relay.lists import upstream_lists

KEPT_SECONDS = 60.0
KEPT_PART_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModels:
    """Models that a group's channels listed, valid until a monotonic time; only briefly if a channel did not answer."""

    names: tuple[str, ...]
    until: float


# By group and catalog version; only used by the event loop.
_kept: dict[tuple[int, int], ListedModels] = {}
_asked: dict[tuple[int, int], "asyncio.Task[ListedModels]"] = {}


async def list_models(group: GroupEntry, catalog_version: int) -> tuple[str, ...]:
    """Returns the public names, each once. Concurrent callers share one round of requests."""
    if group.models is not None:
        return group.models
    key = (group.id, catalog_version)
    kept = _kept.get(key)
    if kept is not None and time.monotonic() < kept.until:
        return kept.names
    if key not in _asked:
        _asked[key] = asyncio.create_task(_looked_up(group, catalog_version))
        _asked[key].add_done_callback(lambda _: _asked.pop(key))
    return (await asyncio.shield(_asked[key])).names


def forget() -> None:
    """Empties the cache, as in a new process."""
    _kept.clear()


async def _looked_up(group: GroupEntry, catalog_version: int) -> ListedModels:
    found = await _listed(group, catalog_version)
    for key in [key for key, listed in _kept.items() if key[0] == group.id or listed.until < time.monotonic()]:
        del _kept[key]
    _kept[group.id, catalog_version] = found
    return found


async def _listed(group: GroupEntry, catalog_version: int) -> ListedModels:
    candidates = await _candidates(group, catalog_version)
    told = await asyncio.gather(*(upstream_lists.list_names(candidate, group.platform) for candidate in candidates))
    public = (_public(candidate.link, names or ()) for candidate, names in zip(candidates, told, strict=True))
    names = dict.fromkeys(name for names in public for name in names)
    is_whole = len(candidates) == len(group.channels) and None not in told
    return ListedModels(
        names=tuple(name for name in names if group.token_price(name) or group.image_price(name) is not None),
        until=time.monotonic() + (KEPT_SECONDS if is_whole else KEPT_PART_SECONDS),
    )


async def _candidates(group: GroupEntry, catalog_version: int) -> list[Candidate]:
    """Returns one candidate for each channel that can be asked now, by priority."""
    wanted = ChannelQuery(dialect=upstream_lists.PLATFORMS[group.platform].dialect, model="", account_id=0)
    found = relay_channels.remembered(group, wanted, catalog_version)
    if found is None:
        found = await threads.call(relay_channels.candidates, group, wanted, catalog_version)
    first = {candidate.link.id: candidate for candidate in reversed(found.ready)}
    return [first[link.id] for link in group.channels if link.id in first]


def _public(link: GroupChannelEntry, names: Iterable[str]) -> Iterator[str]:
    """Returns the public names of a model that its channel knows by another name."""
    public: dict[str, list[str]] = {}
    for name, theirs in link.upstream_models.items():
        public.setdefault(theirs, []).append(name)
    for name in names:
        yield from public.get(name, [name])
