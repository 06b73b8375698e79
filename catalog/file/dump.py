"""Writes the stored catalog as a catalog file, which loads without a change."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from accounts.models import Group
from catalog import credentials, naming
from catalog.file import yaml_text
from catalog.file.changes import values
from catalog.models import Channel, ChannelModel, Credential, GroupChannel, MediaModel, Plan, Route
from common import urls

SEALED = """\
# sealed_credentials are encrypted with this installation's ENCRYPTION_KEYS. They load wherever those are set, and only
# for the scheme, host and port that they were entered for; else replace them by `credentials: {api_key: "${NAME}"}`.
"""
PLAIN = "# This file holds credentials in the clear: keep it secret.\n"
LEFT_OUT = "# Credentials are left out: where this file is loaded, those that are stored stay.\n"


def dump(*, with_credentials: bool = False) -> str:
    """YAML that `load` finds nothing to change in. Credentials are sealed unless asked for in the clear; what cannot be
    opened stays sealed."""
    return (PLAIN if with_credentials else SEALED) + yaml_text.write(tree(with_credentials))


def dump_without_credentials() -> str:
    """The same for whoever may see no secret, not even a sealed one."""
    return LEFT_OUT + yaml_text.write(tree(None))


def tree(with_credentials: bool | None) -> dict[str, Any]:
    """What the file holds; without any credentials for None."""
    tree: dict[str, Any] = {
        "version": 1,
        "models": [
            model(row) for row in MediaModel.objects.order_by("modality", "name").select_related("default_plan")
        ],
        "channels": _channels(with_credentials),
        "plans": plans(),
    }
    if groups := _groups(with_credentials):
        tree["groups"] = groups
    return tree


def model(row: MediaModel) -> dict[str, Any]:
    """The model's entry in the file."""
    return {
        "name": row.name,
        "modality": row.modality,
        **_given(aliases=naming.aliases(row)),
        "default_plan": row.default_plan.name,
        "pricing": {"mode": row.pricing_mode, "prices": _numbers(row.prices)},
        **_given(params=row.params),
        **_switch(row.enabled),
    }


def _channels(with_credentials: bool | None) -> list[dict[str, Any]]:
    offers: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in ChannelModel.objects.order_by("model__modality", "model__name").select_related("model"):
        offers[row.channel_id].append(
            {
                "model": row.model.name,
                "modality": row.model.modality,
                "upstream_model": row.upstream_model,
                **_given(capabilities=row.capabilities, extra_fields=row.extra_fields, fixed=row.fixed),
                **({} if row.cost is None else {"cost": _numbers(row.cost)}),
                **_switch(row.enabled),
            }
        )
    rows = Channel.objects.filter(group_link=None).order_by("name")
    return [_channel(row, offers[row.id], with_credentials) for row in rows]


def _channel(row: Channel, offers: list[dict[str, Any]], with_credentials: bool | None) -> dict[str, Any]:
    return {
        **values(row, "name", "adapter", "base_url"),
        **_of_channel(row, with_credentials),
        **_given(max_running=row.max_running, options=row.options),
        **_switch(row.enabled),
        "models": offers,
    }


def _of_channel(channel: Channel, with_credentials: bool | None) -> dict[str, Any]:
    if with_credentials is None:
        return {}
    return _all_secrets([stored.ciphertext for stored in _of_its_origin(channel)], with_credentials)


def _of_its_origin(channel: Channel) -> list[Credential]:
    origin = urls.origin(channel.base_url)
    return [row for row in credentials.current(channel.pk) if row.origin == origin]


def _secrets(ciphertext: str, with_credentials: bool) -> dict[str, Any]:
    values = credentials.readable(ciphertext) if with_credentials else None
    return {"sealed_credentials": ciphertext} if values is None else {"credentials": values}


def _all_secrets(ciphertexts: list[str], with_credentials: bool) -> dict[str, Any]:
    """One as it is, several as a list; in the clear only where all of them open."""
    if len(ciphertexts) < 2:
        return _secrets(ciphertexts[0], with_credentials) if ciphertexts else {}
    opened = [credentials.readable(ciphertext) for ciphertext in ciphertexts] if with_credentials else [None]
    return {"sealed_credentials": ciphertexts} if None in opened else {"credentials": opened}


def plans() -> list[dict[str, Any]]:
    """The plans' entries in the file, with their routes."""
    routes: dict[int, list[dict[str, Any]]] = defaultdict(list)
    ordered = Route.objects.order_by("model__modality", "model__name", "priority", "channel__name")
    offered = set(ChannelModel.objects.values_list("channel_id", "model_id"))
    for row in ordered.select_related("model", "channel"):
        if (row.channel_id, row.model_id) not in offered:
            continue  # it cannot run, and a file that names it would be refused
        routes[row.plan_id].append(
            {
                "model": row.model.name,
                "modality": row.model.modality,
                "channel": row.channel.name,
                **values(row, "priority", "weight", "resubmit_ambiguous"),
                **_switch(row.enabled),
            }
        )
    return [
        {"name": row.name, "price_multiplier": _number(row.price_multiplier), "routes": routes[row.id]}
        for row in Plan.objects.order_by("name")
    ]


def _groups(with_credentials: bool | None) -> list[dict[str, Any]]:
    channels: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in GroupChannel.objects.order_by("id").select_related("channel"):
        channels[row.group_id].append(
            {
                **values(row.channel, "name", "base_url"),
                **_of_channel(row.channel, with_credentials),
                "priority": row.priority,
                **({} if row.weight == 1 else {"weight": row.weight}),
                **_given(dialects=row.dialects, upstream_models=row.upstream_models),
                **_switch(row.enabled and row.channel.enabled),
            }
        )
    return [_group(row, channels[row.id]) for row in Group.objects.order_by("name").select_related("offer")]


def _group(row: Group, channels: list[dict[str, Any]]) -> dict[str, Any]:
    tree = {
        **values(row, "name", "platform", "image_generation"),
        "channels": channels,
    }
    if offer := getattr(row, "offer", None):
        if offer.models_listed is not None:
            tree["models"] = offer.models_listed
        priced = {name: _numbers(getattr(offer, name)) for name in ("prices", "image_prices", "tool_prices")}
        tree |= _given(**priced, extra_fields=offer.extra_fields, extra_betas=offer.extra_betas)
    return tree


def _given(**fields: Any) -> dict[str, Any]:
    """The fields that say anything."""
    return {name: value for name, value in fields.items() if value not in (None, {}, [])}


def _switch(enabled: bool) -> dict[str, bool]:
    return {} if enabled else {"enabled": False}


def _numbers(prices: dict[str, Any]) -> dict[str, Any]:
    """Prices, also by several steps."""
    return {
        tier: _numbers(price) if isinstance(price, dict) else _number(Decimal(str(price)))
        for tier, price in prices.items()
    }


def _number(amount: Decimal) -> int | float | str:
    """A YAML number where it is read back as exactly this amount, else text."""
    if amount == int(amount):
        return int(amount)
    is_plain = Decimal(str(float(amount))) == amount and "e" not in str(float(amount))
    return float(amount) if is_plain else format(amount, "f")
