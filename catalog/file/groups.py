"""Writes the groups of a catalog file into the tables, for the companion endpoints."""

from collections.abc import Iterable

from accounts.models import Group
from catalog.file import group_channels
from catalog.file.changes import Changes, find, values, write
from catalog.file.specs import GroupSpec
from catalog.models import CatalogVersion, GroupOffer


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
    said = values(spec, "prices", "image_prices", "tool_prices", "extra_fields", "extra_betas")
    fields += write(offer, {"models_listed": spec.models} | said)
    if group_channels.apply(row, spec):
        fields.append("channels")
    changes.note(row, is_new=is_new, fields=fields)
