"""Writes the groups of a catalog file into the tables, for the companion endpoints."""

from collections.abc import Iterable, Sequence

from accounts.models import Group
from catalog import credentials, sealing
from catalog.file.changes import Changes, find, values, write
from catalog.file.specs import GroupChannelSpec, GroupSpec
from catalog.models import CatalogVersion, GroupChannel, GroupOffer
from common import urls


def apply(specs: Iterable[GroupSpec], changes: Changes) -> None:
    """Write the groups of a checked document. Runs inside the caller's transaction."""
    for spec in specs:
        _group(spec, changes)


def _group(spec: GroupSpec, changes: Changes) -> None:
    row = find(Group, name=spec.name)
    is_new = row.pk is None
    fields = write(row, values(spec, "platform", "image_generation"))
    if fields:
        CatalogVersion.raise_it()  # a group is no catalog record
    offer = find(GroupOffer, group=row)
    fields += write(offer, {"models_listed": spec.models} | values(spec, "prices", "image_prices"))
    if _replace_channels(row, spec):
        fields.append("channels")
    changes.note(row, is_new=is_new, fields=fields)


def _replace_channels(group: Group, spec: GroupSpec) -> bool:
    """A group's channels have no names: its list is one value. Without credentials one keeps what is stored."""
    # Locked: a secret that is encrypted anew meanwhile must not come back as it was.
    stored = list(GroupChannel.objects.select_for_update().filter(group=group).order_by("id"))
    if len(stored) == len(spec.channels) and all(map(_says, stored, spec.channels)):
        return False
    GroupChannel.objects.filter(group=group).delete()
    pairs = zip(spec.channels, kept_by(spec.channels, stored), strict=True)
    GroupChannel.objects.bulk_create([_channel(group, channel, kept) for channel, kept in pairs])
    return True


def _says(row: GroupChannel, spec: GroupChannelSpec) -> bool:
    is_same = (row.base_url, row.priority, row.dialects) == (spec.base_url, spec.priority, spec.dialects)
    is_for_it = row.origin == urls.origin(spec.base_url)
    return is_same and is_for_it and spec.credentials in (None, credentials.readable(row.ciphertext))


def kept_by(specs: Sequence[GroupChannelSpec], stored: Iterable[GroupChannel]) -> list[GroupChannel | None]:
    """For each spec the stored row whose secret it may keep, by its address or else by its origin; each row once."""
    left, kept = list(stored), dict[int, GroupChannel]()
    for key in (lambda base_url: base_url, urls.origin):
        for place, spec in enumerate(specs):
            wanted = (key(spec.base_url or ""), urls.origin(spec.base_url or ""))
            row = next((old for old in left if (key(old.base_url), old.origin) == wanted), None)
            if place not in kept and row is not None:
                kept[place] = row
                left.remove(row)
    return [kept.get(place) for place in range(len(specs))]


def _channel(group: Group, spec: GroupChannelSpec, kept: GroupChannel | None) -> GroupChannel:
    row = GroupChannel(group=group, base_url=spec.base_url, priority=spec.priority, dialects=spec.dialects)
    row.origin = urls.origin(spec.base_url)
    if kept is not None and spec.credentials is None:
        row.ciphertext, row.last4 = kept.ciphertext, kept.last4
    else:
        secrets = spec.credentials or {}
        row.ciphertext, row.last4 = sealing.seal(secrets, row.origin), credentials.last4(secrets)
    return row
