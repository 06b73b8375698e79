"""Checks that a channel which moves to another origin brings its secret: what is stored is never sent there."""

from collections.abc import Iterable, Iterator

from catalog import credentials
from catalog.fields import Problem
from catalog.file import groups
from catalog.file.specs import ChannelSpec, Document, GroupSpec
from catalog.models import Channel, GroupChannel
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
    """A group's channels have no names: one that nothing is stored for may be one that has moved."""
    rows = GroupChannel.objects.filter(group__name=spec.name or "").order_by("id")
    stored = [row for row in rows if credentials.readable(row.ciphertext) != {}]
    for channel, kept in zip(spec.channels, groups.kept_by(spec.channels, stored), strict=True):
        if stored and kept is None and channel.credentials is None and channel.base_url is not None:
            known = ", ".join(sorted({row.origin for row in stored}))
            yield f"{channel.path}.credentials", needed(urls.origin(channel.base_url), known)


def needed(origin: str, known: str) -> str:
    return (
        f"is required, as base_url moves to another origin ({origin}): "
        f"what is stored was entered for {known} and is sent nowhere else"
    )
