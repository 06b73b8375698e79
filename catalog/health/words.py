"""What rests of a channel, or is suspected, in words for the operator: why, since when, until when, by what."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from accounts.models import Account
from catalog.models import Channel, ChannelHealth, Credential, Rest
from pages import words

WHY = {
    Rest.Cause.RATE: "the provider limits the rate",
    Rest.Cause.ACCOUNT: "the provider's account has no credit or quota left",
    Rest.Cause.MODEL: "the provider does not know the model, or does not let the account use it",
}

FAULTS = {
    "rate_limited": WHY[Rest.Cause.RATE],
    "overloaded": "the provider was too busy",
    "transient": "the provider could not be reached",
    "ambiguous": "a paid call got no answer",
}
"""What a channel did wrong (`catalog/health/cooldowns.py`), in plain words."""

BRIEFLY: Mapping[str, str] = {
    Rest.Cause.RATE: "rests after a rate limit",
    Rest.Cause.ACCOUNT: "rests, for its account at the provider has no credit or quota left,",
    Rest.Cause.MODEL: "rests with this model, which it refuses,",
}


def briefly(cause: str) -> str:
    """Why a channel rests, as the middle of a sentence whose subject is the channel."""
    return BRIEFLY.get(cause, "cools down")


@dataclass(frozen=True, slots=True, kw_only=True)
class RestInWords:
    """`what` rests and `why`, in words; `evidence` are the refusals that led to it. After `until` one call tries it."""

    what: str
    why: str
    evidence: str
    since: datetime | None
    until: datetime | None

    def __str__(self) -> str:
        times = f"since {words.absolute(self.since)}, until {words.absolute(self.until)}"
        return f"{self.what} rests {times}: {self.why}; {self.evidence}"


def of_channel(channel: Channel, now: datetime) -> tuple[RestInWords, ...]:
    """What rests of the channel now, or waits for a call that tries it: itself, then the last to begin first."""
    rows = [row for row in channel.rests.all() if _is_told(row, now)]
    credentials = {row.pk: str(row) for row in channel.credentials.all()}
    wanted = {row.account_id for row in rows} | {row.by_account for row in rows}
    accounts = dict(Account.objects.filter(pk__in=wanted).values_list("pk", "name")) if rows else {}
    rows.sort(key=lambda row: (row.since or now, row.pk), reverse=True)
    return (*_cooling(channel, now), *(_told(row, credentials, accounts) for row in rows))


def _cooling(channel: Channel, now: datetime) -> Iterator[RestInWords]:
    health: ChannelHealth | None = getattr(channel, "health", None)
    if health is not None and health.cooldown_until is not None and health.cooldown_until > now:
        yield RestInWords(
            what="the channel",
            why=FAULTS.get(health.last_kind, health.last_kind),
            evidence=f"{words.counted(health.cooldowns, 'time')} in a row",
            since=health.last_at,
            until=health.cooldown_until,
        )


def suspected(row: Credential) -> str:
    """A credential that a provider has refused, and no probe has confirmed."""
    return (
        f"credential {row} is suspected since {words.absolute(row.suspected_at)}, and stays in use until a probe "
        f"confirms it: {row.reason}"
    )


def _is_told(row: Rest, now: datetime) -> bool:
    return row.is_active(now) or (row.until is not None and row.cause != Rest.Cause.RATE)


def _told(row: Rest, credentials: Mapping[int, str], accounts: Mapping[int, str]) -> RestInWords:
    return RestInWords(
        what=f"{' with '.join(_what(row, credentials))} {_for_whom(row, accounts)}",
        why=WHY[Rest.Cause(row.cause)],
        evidence="; ".join(_evidence(row, accounts)),
        since=row.since,
        until=max(filter(None, (row.until, row.trial_until)), default=None),
    )


def _what(row: Rest, credentials: Mapping[int, str]) -> Iterator[str]:
    if row.credential_id:
        yield f"credential {credentials.get(row.credential_id, f'no. {row.credential_id}')}"
    if row.upstream_model:
        yield f"model {row.upstream_model}"


def _for_whom(row: Rest, accounts: Mapping[int, str]) -> str:
    return f"for account {_name(row.account_id, accounts)}" if row.account_id else "for every account"


def _evidence(row: Rest, accounts: Mapping[int, str]) -> Iterator[str]:
    times = words.counted(row.refusals, "refusal")
    by = f"account {_name(row.by_account, accounts)}" + (f", task {row.by_task}" if row.by_task else "")
    yield f"{times} in a row, the last at {words.absolute(row.last_at)} of {by}: {row.said}"
    if row.rests > 1:
        yield f"rest no. {row.rests} in a row"
    if row.trial_until is not None:
        yield "a call tries it now"


def _name(account_id: int, accounts: Mapping[int, str]) -> str:
    return accounts.get(account_id, f"no. {account_id}")
