"""Writing the groups of a catalog file into the tables, for the companion endpoints."""

from collections.abc import Iterable

from accounts.models import Group
from catalog import credentials
from catalog.file.apply import Changes, find, write
from catalog.file.form import GroupChannelForm, GroupForm
from catalog.models import CatalogVersion, GroupChannel, GroupOffer
from common.encryption import encrypt_mapping


def apply(forms: Iterable[GroupForm], changes: Changes) -> None:
    """Write the groups of a checked document. Runs inside the caller's transaction."""
    for form in forms:
        _group(form, changes)


def _group(form: GroupForm, changes: Changes) -> None:
    row = find(Group, name=form.name)
    is_new = row.pk is None
    fields = write(row, {"platform": form.platform, "image_generation": form.image_generation})
    if fields:
        CatalogVersion.raise_it()  # a group is no catalog record
    offer = find(GroupOffer, group=row)
    fields += write(offer, {"models_listed": form.models, "prices": form.prices, "image_prices": form.image_prices})
    if _replace_channels(row, form):
        fields.append("channels")
    changes.note(row, is_new=is_new, fields=fields)


def _replace_channels(group: Group, form: GroupForm) -> bool:
    """A group's channels have no names: its list is one value. Without credentials one keeps what is stored."""
    stored = list(GroupChannel.objects.filter(group=group).order_by("id"))
    if len(stored) == len(form.channels) and all(map(_says, stored, form.channels)):
        return False
    GroupChannel.objects.filter(group=group).delete()
    GroupChannel.objects.bulk_create([_channel(group, channel, stored) for channel in form.channels])
    return True


def _says(row: GroupChannel, form: GroupChannelForm) -> bool:
    is_same = (row.base_url, row.priority, row.dialects) == (form.base_url, form.priority, form.dialects)
    return is_same and form.credentials in (None, credentials.readable(row.ciphertext))


def _channel(group: Group, form: GroupChannelForm, stored: list[GroupChannel]) -> GroupChannel:
    """A row for the form; the stored one whose secret it may keep is taken from the list."""
    row = GroupChannel(group=group, base_url=form.base_url, priority=form.priority, dialects=form.dialects)
    kept = next((old for old in stored if old.base_url == form.base_url), None)
    if kept is not None:
        stored.remove(kept)
    if kept is not None and form.credentials is None:
        row.ciphertext, row.last4 = kept.ciphertext, kept.last4
    else:
        secrets = form.credentials or {}
        row.ciphertext, row.last4 = encrypt_mapping(secrets), credentials.last4(secrets)
    return row
