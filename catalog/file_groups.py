"""Writing the groups of a catalog file into the tables, for the companion endpoints."""

from collections.abc import Iterable

from accounts.models import Group
from catalog import credentials
from catalog.file_apply import Changes, find, write
from catalog.file_form import GroupForm
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
    """A group's channels have no names: its list is one value."""
    stored = list(GroupChannel.objects.filter(group=group).order_by("id"))
    values = {row.base_url: credentials.readable(row.ciphertext) for row in stored}
    wanted = [
        (c.base_url, c.priority, c.dialects, values.get(c.base_url) or {} if c.credentials is None else c.credentials)
        for c in form.channels
    ]
    if wanted == [(r.base_url, r.priority, r.dialects, values[r.base_url]) for r in stored]:
        return False
    GroupChannel.objects.filter(group=group).delete()
    GroupChannel.objects.bulk_create(
        GroupChannel(
            group=group,
            base_url=base_url,
            priority=priority,
            dialects=dialects,
            ciphertext=encrypt_mapping(secrets),
            last4=credentials.last4(secrets),
        )
        for base_url, priority, dialects, secrets in wanted
    )
    return True
