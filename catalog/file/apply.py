"""Writing the models, channels and plans of a catalog file into the tables; only what differs is written."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from django.db import models

from catalog import credentials, naming
from catalog.file.form import ChannelForm, ChannelModelForm, Document, ModelForm, RouteForm
from catalog.file.references import Known
from catalog.models import Channel, ChannelModel, MediaModel, Plan, Route

Row = TypeVar("Row", bound=models.Model)


@dataclass(slots=True, kw_only=True)
class Changes:
    """What was done, in words, in the order in which it was done."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def note(self, record: models.Model, *, is_new: bool, fields: Collection[str]) -> None:
        if is_new:
            self.created.append(label(record))
        elif fields:
            self.changed.append(f"{label(record)}: {', '.join(fields)}")
        else:
            self.unchanged.append(label(record))

    def bring(self, record: models.Model, values: Mapping[str, Any]) -> None:
        """Write a row that has nothing around it."""
        is_new = record.pk is None
        self.note(record, is_new=is_new, fields=write(record, values))


def find(kind: type[Row], **identity: Any) -> Row:
    """The stored row of this identity, or a new one."""
    row = kind._default_manager.filter(**identity).first() or kind()
    for name, value in identity.items():
        setattr(row, name, value)
    return row


def label(record: models.Model) -> str:
    return f"{record._meta.verbose_name} {record}"


def write(record: models.Model, values: Mapping[str, Any]) -> list[str]:
    """Save the row if it is new or differs; the names of the fields that differ."""
    fields = [name for name, value in values.items() if not same(getattr(record, name), value)]
    if fields or record.pk is None:
        for name in fields:
            setattr(record, name, values[name])
        record.save()
    return fields


def same(stored: Any, wanted: Any) -> bool:
    """Equality that tells `true` from 1 within JSON, but not 1 from 1.0: a database may turn one into the other."""
    if isinstance(stored, dict) and isinstance(wanted, dict):
        return stored.keys() == wanted.keys() and all(same(stored[key], wanted[key]) for key in stored)
    if isinstance(stored, list) and isinstance(wanted, list):
        return len(stored) == len(wanted) and all(same(a, b) for a, b in zip(stored, wanted, strict=True))
    return bool(stored == wanted) and isinstance(stored, bool) == isinstance(wanted, bool)


def apply(document: Document, known: Known, changes: Changes, *, busy_channels: Collection[int] = ()) -> None:
    """Write the models, channels and plans of a checked document. Runs inside the caller's transaction."""
    for plan in document.plans:
        changes.bring(find(Plan, name=plan.name), {"price_multiplier": plan.price_multiplier})
    plans = {plan.name: plan for plan in Plan.objects.all()}
    _models(document.models, plans, changes)
    by_key = {(model.modality, model.name): model for model in MediaModel.objects.all()}
    for channel in document.channels:
        row = _channel(channel, changes, busy_channels)
        for offer in channel.models:
            _channel_model(offer, row, by_key[known.keys(offer)[0]], changes)
    channels = {channel.name: channel for channel in Channel.objects.all()}
    for plan in document.plans:
        for route in plan.routes:
            model = by_key[known.keys(route)[0]]
            _route(route, plans[plan.name], model, channels[route.channel], changes)


def _models(forms: list[ModelForm], plans: Mapping[str, Plan], changes: Changes) -> None:
    stored = {(model.modality, model.name): model for model in MediaModel.objects.prefetch_related("names")}
    rows = [
        stored.get((form.modality, form.name)) or MediaModel(modality=form.modality, name=form.name) for form in forms
    ]
    pairs = list(zip(forms, rows, strict=True))
    # All names that move are given up before any is taken, so that models may swap them.
    renamed = [row for form, row in pairs if row.pk is None or naming.differ(row, form.aliases)]
    for row in renamed:
        if row.pk is not None:
            naming.clear(row)
    for form, row in pairs:
        is_new = row.pk is None
        fields = write(
            row,
            {
                "default_plan_id": plans[form.default_plan].id,
                "pricing_mode": form.pricing_mode,
                "prices": form.prices,
                "params": form.params,
                "enabled": form.enabled,
            },
        )
        if row in renamed:
            naming.write(row, form.aliases)
            fields.append("aliases")
        changes.note(row, is_new=is_new, fields=[name.removesuffix("_id") for name in fields])


def _channel(form: ChannelForm, changes: Changes, busy_channels: Collection[int]) -> Channel:
    row = find(Channel, name=form.name)
    is_new = row.pk is None
    fields = write(
        row,
        {
            "adapter": form.adapter,
            "base_url": form.base_url,
            "options": form.options,
            "max_running": form.max_running,
            "enabled": form.enabled,
        },
    )
    if _store(row, form, is_busy=row.pk in busy_channels):
        fields.append("credentials")
    changes.note(row, is_new=is_new, fields=fields)
    return row


def _store(channel: Channel, form: ChannelForm, *, is_busy: bool) -> bool:
    if form.credentials is None:
        return False
    if isinstance(form.credentials, list):
        return credentials.store_all(channel, form.credentials, is_busy=is_busy)
    return credentials.store(channel, form.credentials)


def _channel_model(form: ChannelModelForm, channel: Channel, model: MediaModel, changes: Changes) -> None:
    changes.bring(
        find(ChannelModel, channel=channel, model=model),
        {
            "upstream_model": form.upstream_model,
            "capabilities": form.capabilities,
            "cost": form.cost,
            "enabled": form.enabled,
        },
    )


def _route(form: RouteForm, plan: Plan, model: MediaModel, channel: Channel, changes: Changes) -> None:
    changes.bring(
        find(Route, plan=plan, model=model, channel=channel),
        {
            "priority": form.priority,
            "weight": form.weight,
            "resubmit_ambiguous": form.resubmit_ambiguous,
            "enabled": form.enabled,
        },
    )
