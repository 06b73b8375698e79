"""Explain a relayed call of a general key, for the `explain` command: price, reserve, and channels in order. Sends and
stores nothing."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings

from accounts.models import Account, ApiKey
from catalog import groups, relay_channels, snapshot, tariffs
from catalog.groups import IMAGES, GroupEntry
from catalog.models import GroupChannel
from catalog.relay_channels import ChannelQuery, Verdict
from catalog.tariffs import Tariff
from catalog.token_prices import COUNTS, MostUsed, TokenPrice
from common import money
from common.errors import (
    ApiError,
    BillingUnsupported,
    EndpointUnsupported,
    ImagesUnsupported,
    PermissionRefused,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupposedCall:
    """Parameters of a hypothetical call. Without `dialect`, the first of the group's platform applies; `output_limit`
    is the request's token limit."""

    model: str
    dialect: str | None = None
    input_tokens: int = 1000
    output_limit: int | None = None


def explain(key: ApiKey, call: SupposedCall) -> tuple[dict[str, Any], ApiError | None]:
    """Return the explanation as JSON and the error that the caller would get; skip rate limits and the balance."""
    catalog = snapshot.latest()
    group = catalog.group(key.group_id) if key.group_id else None
    if group is None:
        refused = PermissionRefused("This API key belongs to no group.")
        return _answer(call, error=_told(refused)), refused
    own = groups.own_dialects(group.platform, image_generation=False)
    dialect = call.dialect or min(own)
    wanted = ChannelQuery(dialect=dialect, model=call.model, account_id=key.account_id)
    verdicts = relay_channels.verdicts(group, wanted, catalog.version)
    tariff, unpriced = _tariff(group, dialect, call.model)
    error = _error(key, group, wanted, unpriced, verdicts)
    answer = _answer(
        call,
        group=group.name,
        platform=group.platform,
        dialect=dialect,
        listed=None if group.models is None else call.model in group.models,
        price=tariff and _price(tariff),
        tool_prices={name: _plain(usd) for name, usd in group.tool_prices.items()},
        extra_fields=sorted(group.extra_fields),
        extra_betas=sorted(group.extra_betas),
        reserve=tariff and _reserve(tariff, call),
        channels=[*(_channel(verdict, call.model) for verdict in verdicts), *_disabled(group)],
        error=_told(error),
    )
    return answer, error


def _answer(call: SupposedCall, **found: Any) -> dict[str, Any]:
    nothing = dict.fromkeys(("group", "platform", "dialect", "listed", "price", "reserve"))
    opened: dict[str, Any] = {"tool_prices": {}, "extra_fields": [], "extra_betas": []}
    return {"model": call.model, **nothing, **opened, "channels": [], "error": None, **found}


def _told(error: ApiError | None) -> dict[str, str] | None:
    return None if error is None else {"type": error.type, "message": error.message}


def _tariff(group: GroupEntry, dialect: str, model: str) -> tuple[Tariff | None, ApiError | None]:
    try:
        return tariffs.of(group, dialect, model), None
    except ApiError as unpriced:
        return None, unpriced


def _error(
    key: ApiKey, group: GroupEntry, wanted: ChannelQuery, unpriced: ApiError | None, verdicts: list[Verdict]
) -> ApiError | None:
    """Find the first error that the caller would get, in the order of a call's checks."""
    if wanted.dialect not in group.dialects:
        return ImagesUnsupported() if wanted.dialect == IMAGES else EndpointUnsupported()
    if unpriced is not None:
        return unpriced
    if key.account.billing == Account.Billing.SUBSCRIPTION:
        return BillingUnsupported()
    if any(verdict.ready for verdict in verdicts):
        return None
    resting = [verdict.resting for verdict in verdicts if verdict.resting is not None]
    return relay_channels.none_ready(resting, model=wanted.model)


def _price(tariff: Tariff) -> dict[str, Any] | None:
    price = tariff.tokens
    if tariff.picture is not None:
        tiers = tariff.pictures.document() if tariff.pictures else None
        most = {"per": "picture", "usd": _plain(tariff.picture)}
        return {**most, "tiers": tiers} if isinstance(tiers, dict) else most
    if price is None:
        return None
    counts = {name: getattr(price, name) for name in COUNTS}
    long = price.long_context
    above = {"above": long.above, **_amounts(long.price)} if long else None
    return {"per": "million tokens", "pattern": price.pattern, **_amounts(price), **counts, "long_context": above}


def _amounts(price: TokenPrice) -> dict[str, str]:
    return {name: _plain(amount) for name, amount in price.amounts().items()}


def _plain(amount: Decimal) -> str:
    return format(amount.normalize(), "f")


def _reserve(tariff: Tariff, call: SupposedCall) -> dict[str, Any]:
    """Compute the hold of such a call: one image, or its tokens at their highest prices."""
    output = tariff.output_bound(call.output_limit, default=settings.RELAY_OUTPUT_TOKENS)
    held = money.usd(tariff.bound_micros(MostUsed(input_tokens=call.input_tokens, output_tokens=output, images=1)))
    if tariff.picture is not None:
        return {"pictures": 1, "estimated_cost": held}
    return {"input_tokens": call.input_tokens, "output_tokens": output, "estimated_cost": held}


def _channel(verdict: Verdict, model: str) -> dict[str, Any]:
    link = verdict.link
    return {
        "channel": link.channel.name,
        "base_url": link.channel.base_url,
        "upstream_model": link.upstream_model(model),
        "priority": link.priority,
        "weight": link.weight,
        "kept": bool(verdict.ready),
        "credentials": len(verdict.ready),
        "reason": verdict.obstacle,
    }


def _disabled(group: GroupEntry) -> Iterator[dict[str, Any]]:
    """List disabled channels, which the catalog snapshot leaves out."""
    enabled = {link.id for link in group.channels}
    links = GroupChannel.objects.filter(group_id=group.id).exclude(id__in=enabled).select_related("channel")
    for link in links.order_by("priority", "id"):
        yield {
            "channel": link.channel.name,
            "base_url": link.channel.base_url,
            "upstream_model": None,
            "priority": link.priority,
            "weight": link.weight,
            "kept": False,
            "credentials": 0,
            "reason": "is disabled",
        }


def listed(answer: Mapping[str, Any]) -> dict[str, object]:
    """Format the JSON answer as named lines for people, without unknown values."""
    price, reserve = answer["price"], answer["reserve"]
    found: dict[str, object] = {name: answer[name] for name in ("model", "group", "platform", "dialect")}
    if price:
        found["price"] = f"USD per {price['per']}: {_said({name: price[name] for name in price if name != 'per'})}"
    if reserve:
        counted = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in list(reserve.items())[:-1])
        found["reserve"] = f"${reserve['estimated_cost']} for {counted}"
    if tools := answer["tool_prices"]:
        found["tools"] = f"USD per call: {_said(tools)}"
    if opened := [*answer["extra_fields"], *answer["extra_betas"]]:
        found["passes"] = ", ".join(opened)
    channels = answer["channels"]
    found["channels"] = "".join([str(len(channels)), *(f"\n  {_line(row)}" for row in channels)])
    return {name: value for name, value in found.items() if value is not None}


def _said(named: Mapping[str, Any]) -> str:
    """Format a mapping as `name value` pairs, nested mappings in parentheses."""
    return ", ".join(
        f"{name} ({_said(value)})" if isinstance(value, Mapping) else f"{name} {value}"
        for name, value in named.items()
        if value
    )


def _line(row: Mapping[str, Any]) -> str:
    verdict = f"kept, {row['credentials']} credentials" if row["kept"] else f"skipped, {row['reason']}"
    named = ", ".join(filter(None, (row["base_url"], row["upstream_model"])))
    return f"priority {row['priority']} weight {row['weight']} {row['channel']} ({named}): {verdict}"
