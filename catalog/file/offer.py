"""Writes the plans, models, channels and routes of a catalog file into the tables."""

from collections.abc import Mapping

from catalog import credentials, naming
from catalog.file.changes import Changes, find, values, write
from catalog.file.references import KnownNames
from catalog.file.specs import ChannelModelSpec, ChannelSpec, Document, ModelSpec, RouteSpec
from catalog.models import Channel, ChannelModel, MediaModel, Plan, Route


def apply(document: Document, known: KnownNames, changes: Changes) -> None:
    """Write the models, channels and plans of a checked document. Runs inside the caller's transaction."""
    for plan in document.plans:
        changes.bring(find(Plan, name=plan.name), values(plan, "price_multiplier"))
    plans = {plan.name: plan for plan in Plan.objects.all()}
    _models(document.models, plans, changes)
    by_key = {(model.modality, model.name): model for model in MediaModel.objects.all()}
    for channel in document.channels:
        row = _channel(channel, changes)
        for offer in channel.models:
            _channel_model(offer, row, by_key[known.keys(offer)[0]], changes)
    channels = {channel.name: channel for channel in Channel.objects.all()}
    for plan in document.plans:
        for route in plan.routes:
            model = by_key[known.keys(route)[0]]
            _route(route, plans[plan.name], model, channels[route.channel], changes)


def _models(specs: list[ModelSpec], plans: Mapping[str, Plan], changes: Changes) -> None:
    stored = {(model.modality, model.name): model for model in MediaModel.objects.prefetch_related("names")}
    rows = [
        stored.get((spec.modality, spec.name)) or MediaModel(modality=spec.modality, name=spec.name) for spec in specs
    ]
    pairs = list(zip(specs, rows, strict=True))
    # All names that move are given up before any is taken, so that models may swap them.
    renamed = [row for spec, row in pairs if row.pk is None or naming.differ(row, spec.aliases)]
    for row in renamed:
        if row.pk is not None:
            naming.clear(row)
    for spec, row in pairs:
        is_new = row.pk is None
        plan = {"default_plan_id": plans[spec.default_plan].id}
        fields = write(row, plan | values(spec, "pricing_mode", "prices", "params", "enabled"))
        if row in renamed:
            naming.write(row, spec.aliases)
            fields.append("aliases")
        changes.note(row, is_new=is_new, fields=[name.removesuffix("_id") for name in fields])


def _channel(spec: ChannelSpec, changes: Changes) -> Channel:
    row = find(Channel, name=spec.name)
    is_new = row.pk is None
    fields = write(row, values(spec, "adapter", "base_url", "options", "max_running", "enabled"))
    if credentials.store_given(row, spec.credentials):
        fields.append("credentials")
    changes.note(row, is_new=is_new, fields=fields)
    return row


def _channel_model(spec: ChannelModelSpec, channel: Channel, model: MediaModel, changes: Changes) -> None:
    changes.bring(
        find(ChannelModel, channel=channel, model=model),
        values(spec, "upstream_model", "capabilities", "extra_fields", "fixed", "cost", "enabled"),
    )


def _route(spec: RouteSpec, plan: Plan, model: MediaModel, channel: Channel, changes: Changes) -> None:
    changes.bring(
        find(Route, plan=plan, model=model, channel=channel),
        values(spec, "priority", "weight", "resubmit_ambiguous", "enabled"),
    )
