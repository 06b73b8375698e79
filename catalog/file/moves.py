"""Checks that a channel which moves to another origin brings its secret: what is stored is never sent there."""

from collections.abc import Iterable, Iterator

from catalog import credentials
from catalog.fields import Problem
from catalog.file import group_channels
from catalog.file.specs import ChannelSpec, Document, GroupSpec
from catalog.models import Channel
from common import urls


def check(document: Document, found: Iterable[Problem]) -> list[Problem]:
    """A problem for each entry without credentials whose stored ones are of another origin than its `base_url`, unless
    its credentials were `found` to be wrong."""
    stored = {channel.name: channel for channel in Channel.objects.all()}
    problems: list[Problem] = []
    for spec in document.channels:
        if spec.name in stored and spec.base_url is not None and spec.credentials is None:
            problems += _channel(spec, stored[spec.name])
    problems += [problem for group in document.groups for problem in _group(group)]
    wrong = {path.partition("credentials")[0].removesuffix("sealed_") for path, _ in found if "credentials" in path}
    return [(path, reason) for path, reason in problems if path.removesuffix("credentials") not in wrong]


def _channel(spec: ChannelSpec, channel: Channel) -> Iterator[Problem]:
    origin = urls.origin(spec.base_url)
    known = {row.origin for row in credentials.current(channel.pk)}
    if known and origin not in known:
        yield f"{spec.path}.credentials", needed(origin, ", ".join(sorted(known)))


def _group(spec: GroupSpec) -> Iterator[Problem]:
    """A channel that the file does not name, and that nothing is stored for, may be one that has moved."""
    links = group_channels.stored(spec.name)
    origins = group_channels.origins(links)
    known = set[str]().union(*origins.values())
    for channel, link in zip(spec.channels, group_channels.match(spec.channels, links), strict=True):
        if channel.credentials is not None or channel.base_url is None:
            continue
        origin, entered = urls.origin(channel.base_url), known if link is None else origins[link.pk]
        is_open = channel.name is not None and link is None  # a new one, which has none yet
        if not is_open and entered and (link is None or origin not in entered):
            yield f"{channel.path}.credentials", needed(origin, ", ".join(sorted(entered)))


def needed(origin: str, known: str) -> str:
    return (
        f"is required, as base_url moves to another origin ({origin}): "
        f"what is stored was entered for {known} and is sent nowhere else"
    )
