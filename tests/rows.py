"""Rows that most tests stand on: an account with money, keys, and a catalog of one image and one video model."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils import timezone

from accounts import keys
from accounts.models import Account, ApiKey
from billing import ledger
from catalog import connections, credentials
from catalog.models import Channel, ChannelModel, Credential, MediaModel, ModelName, Plan, Route
from common import ids, money, urls
from tasks.models import RouteSet, Task

IMAGE_PARAMS = {
    "image_size": {"values": ["1K", "2K"], "default": "1K"},
    "aspect_ratio": {"values": ["1:1", "16:9"], "default": "1:1"},
    "n": {"max": 4},
    "images": {"max": 4},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedKey:
    """A key with its secret in plain."""

    record: ApiKey
    secret: str

    @property
    def id(self) -> int:
        return self.record.pk

    @property
    def account(self) -> Account:
        return self.record.account


def make_account(name: str, *, usd: str = "10", **fields: Any) -> Account:
    account = Account.objects.create(name=name, **fields)
    ledger.credit(account.pk, money.micros(Decimal(usd)), reference=f"credit-{name}", reason="test")
    account.refresh_from_db()
    return account


def make_key(account: Account, name: str = "key", **fields: Any) -> IssuedKey:
    """A key that may call whatever keys of its binding can."""
    record = ApiKey.objects.create(account=account, name=name, **{"videos_api": True, **fields})
    return IssuedKey(record=record, secret=keys.issue(record))


def make_channel(name: str, adapter: str, base_url: str, **fields: Any) -> Channel:
    channel = Channel.objects.create(name=name, adapter=adapter, base_url=base_url, **fields)
    add_credential(channel, f"{name}-credential-1234")
    return channel


def add_credential(channel: Channel, api_key: str) -> Credential:
    row = credentials.new(channel, {"api_key": api_key})
    row.save()
    return row


def opened(channel: Channel) -> dict[str, str] | None:
    """What a call to the channel may authenticate with."""
    rows = connections.in_turn(connections.stored([channel.pk]).get(channel.pk, []), 0, urls.origin(channel.base_url))
    return credentials.readable(rows[0].ciphertext) if rows else None


def make_model(name: str, modality: str, *, plan: Plan, prices: dict[str, str], **fields: Any) -> MediaModel:
    """A model under its own name, priced in the usual mode of its modality. Prices are USD as text, as in the table."""
    mode = "image_matrix" if modality == "image" else "video_duration"
    model = MediaModel.objects.create(
        name=name, modality=modality, default_plan=plan, prices=prices, **{"pricing_mode": mode, **fields}
    )
    ModelName.objects.create(model=model, modality=modality, name=name, is_primary=True)
    return model


def make_route(plan: Plan, model: MediaModel, channel: Channel, *, upstream_model: str, **fields: Any) -> Route:
    """The route, and the channel's mapping of the model where it has none yet."""
    ChannelModel.objects.get_or_create(channel=channel, model=model, defaults={"upstream_model": upstream_model})
    return Route.objects.create(plan=plan, model=model, channel=channel, **fields)


def make_task(key: IssuedKey, status: str = "succeeded", **fields: Any) -> Task:
    """A bare row: without hold, events and payload."""
    routes, _ = RouteSet.objects.get_or_create(digest="none", defaults={"routes": []})
    ended = {} if status in ("queued", "running") else {"finished_at": timezone.now(), "actual_micros": 0}
    return Task.objects.create(
        key=key.record,
        secret=key.record.secrets.get(),
        account=key.account,
        status=status,
        route_set=routes,
        open_routes=routes,
        body_digest="0" * 64,
        price={},
        **{
            "id": ids.new_task_id(),
            "model_name": "aurora-image",
            "modality": "image",
            "estimated_micros": 0,
            "deadline_at": timezone.now(),
            **ended,
            **fields,
        },
    )
