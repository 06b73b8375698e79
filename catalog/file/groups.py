"""Writes the groups of a catalog file into the tables, for the companion endpoints."""

from collections.abc import Iterable

from accounts.models import Group
from catalog import credentials
from catalog.file.changes import Changes, find, values, write
from catalog.file.specs import GroupChannelSpec, GroupSpec
from catalog.models import CatalogVersion, GroupChannel, GroupOffer
from common.encryption import encrypt_mapping


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
    stored = list(GroupChannel.objects.filter(group=group).order_by("id"))
    if len(stored) == len(spec.channels) and all(map(_says, stored, spec.channels)):
        return False
    GroupChannel.objects.filter(group=group).delete()
    GroupChannel.objects.bulk_create([_channel(group, channel, stored) for channel in spec.channels])
    return True


def _says(row: GroupChannel, spec: GroupChannelSpec) -> bool:
    is_same = (row.base_url, row.priority, row.dialects) == (spec.base_url, spec.priority, spec.dialects)
    return is_same and spec.credentials in (None, credentials.readable(row.ciphertext))


def _channel(group: Group, spec: GroupChannelSpec, stored: list[GroupChannel]) -> GroupChannel:
    """A row for the spec; the stored one whose secret it may keep is taken from the list."""
    row = GroupChannel(group=group, base_url=spec.base_url, priority=spec.priority, dialects=spec.dialects)
    kept = next((old for old in stored if old.base_url == spec.base_url), None)
    if kept is not None:
        stored.remove(kept)
    if kept is not None and spec.credentials is None:
        row.ciphertext, row.last4 = kept.ciphertext, kept.last4
    else:
        secrets = spec.credentials or {}
        row.ciphertext, row.last4 = encrypt_mapping(secrets), credentials.last4(secrets)
    return row
