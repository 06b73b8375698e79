"""Refusals of providers as the health of channels hears them, without a provider."""

from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from adapters.base import ErrorKind, UpstreamError
from catalog.health import outcomes, probes
from catalog.health.calls import ChannelCall
from catalog.models import Channel, Credential, Rest

MODEL = "gpt-image-2"


def call(
    row: Credential | Channel,
    *,
    model: str = MODEL,
    account: int = 1,
    task: str = "",
    tried: frozenset[int] = frozenset(),
) -> ChannelCall:
    """A call through a credential, or through a channel without one that opens."""
    is_channel = isinstance(row, Channel)
    return ChannelCall(
        channel_id=row.pk if is_channel else row.channel_id,
        credential_id=None if is_channel else row.pk,
        upstream_model=model,
        account_id=account,
        task_id=task,
        tried=tried,
    )


def refuse(
    row: Credential | Channel,
    kind: ErrorKind,
    *,
    model: str = MODEL,
    account: int = 1,
    task: str = "",
    tried: frozenset[int] = frozenset(),
    words: str = "The provider's words.",
    **fields: Any,
) -> None:
    made = call(row, model=model, account=account, task=task, tried=tried)
    outcomes.refused(made, UpstreamError(kind, words, **fields))


def succeed(row: Credential | Channel, *, model: str = MODEL, account: int = 1) -> None:
    outcomes.succeeded([call(row, model=model, account=account)])


def disable(row: Credential, reason: str = "auth: Bad key.") -> None:
    """The provider has refused the credential, and a probe has confirmed it."""
    probes.disable(row.pk, reason)


def rest(row: Credential, *, seconds: float = 600.0) -> None:
    """The whole credential rests, whatever is asked of it."""
    Rest.objects.update_or_create(
        channel_id=row.channel_id,
        credential_id=row.pk,
        cause=Rest.Cause.RATE,
        defaults={"last_at": Now(), "since": Now(), "until": Now() + timedelta(seconds=seconds), "rests": 1},
    )


def wake() -> None:
    """Nothing rests any more."""
    Rest.objects.all().delete()
