"""Removes what a catalog file does not name."""

from collections.abc import Collection

from django.db import models
from django.db.models import ProtectedError

from accounts.models import Group
from catalog.file.changes import Changes, label
from catalog.file.references import KnownNames
from catalog.file.specs import Document
from catalog.models import CatalogVersion, Channel, ChannelModel, MediaModel, Plan, Route


def before(document: Document, known: KnownNames, changes: Changes, *, channels_in_use: Collection[int]) -> None:
    """Routes, channel models, models, channels and groups with theirs: first, so that the names they hold are free.

    A channel of `channels_in_use` (ids) still has paid jobs to follow with its credential: it is only disabled.
    """
    routes = {
        (plan.name, route.channel, key) for plan in document.plans for route in plan.routes for key in known.keys(route)
    }
    for row in Route.objects.select_related("plan", "channel", "model"):
        if (row.plan.name, row.channel.name, (row.model.modality, row.model.name)) not in routes:
            _remove(row, changes)
    offers = {(spec.name, key) for spec in document.channels for offer in spec.models for key in known.keys(offer)}
    for offer in ChannelModel.objects.select_related("channel", "model"):
        if (offer.channel.name, (offer.model.modality, offer.model.name)) not in offers:
            _remove(offer, changes)
    for model in MediaModel.objects.all():
        if (model.modality, model.name) not in known.models:
            _remove(model, changes)
    for channel in Channel.objects.filter(group_link=None).exclude(name__in=known.channels):
        if channel.id in channels_in_use:
            _retire(channel, changes)
        else:
            _remove(channel, changes)
    for group in Group.objects.exclude(name__in=[spec.name for spec in document.groups]):
        _remove_group(group, changes)


def after(known: KnownNames, changes: Changes) -> None:
    """Plans: last, when no model has them as its default any more."""
    for plan in Plan.objects.exclude(name__in=known.plans):
        _remove(plan, changes)


def _remove(row: models.Model, changes: Changes) -> None:
    changes.removed.append(label(row))
    row.delete()


def _retire(channel: Channel, changes: Changes) -> None:
    changes.warnings.append(f"{label(channel)} has running tasks: it is disabled; prune again when they have ended")
    if channel.enabled:
        channel.enabled = False
        channel.save()
        changes.changed.append(f"{label(channel)}: enabled")


def _remove_group(group: Group, changes: Changes) -> None:
    made = list(Channel.objects.filter(group_link__group=group).values_list("id", flat=True))
    try:
        group.delete()
        Channel.objects.filter(id__in=made).delete()
    except ProtectedError:
        changes.warnings.append(f"{label(group)} has keys: it stays")
    else:
        changes.removed.append(label(group))
        CatalogVersion.raise_it()
