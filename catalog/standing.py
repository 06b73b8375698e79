"""How channels and their credentials stand now, in words for the operator: admin, `doctor`, `load_catalog`."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from catalog import pausing
from catalog.models import Channel, ChannelHealth, Credential
from pages import words


def of_channel(channel: Channel, now: datetime) -> str:
    """One line; reads `health`, `credentials` and `rests`, which a list fetches beforehand."""
    rows = [row for row in channel.credentials.all() if row.retired_at is None]
    disabled = [row for row in rows if row.disabled_at]
    if rows and len(disabled) == len(rows):
        latest = max(disabled, key=lambda row: row.disabled_at or now)
        return f"disabled since {told(latest.disabled_at)}: {reason(latest)}"
    if until := cooling_until(channel, [row for row in rows if not row.disabled_at], now):
        return f"cooling down until {told(until)}"
    return ", ".join(["ok", *_but(channel, len(rows), len(disabled), now)])


def _but(channel: Channel, credentials: int, disabled: int, now: datetime) -> Iterator[str]:
    """What a channel that is in use lacks."""
    if disabled:
        yield f"{disabled} of {credentials} credentials disabled"
    if resting := sum(row.is_active(now) for row in channel.rests.all()):
        yield f"{words.counted(resting, 'rest')} of models or credentials"


def now_of(channel: Channel, now: datetime) -> str:
    """The same, and first of all that an operator has paused or drained it."""
    state = of_channel(channel, now)
    if pausing.standing(channel) == "on":
        return state
    return f"{channel.standing} since {told(channel.standing_since)}; {state}"


def cooling_until(channel: Channel, enabled: Sequence[Credential], now: datetime) -> datetime | None:
    """When a channel that rests now may be used again: after its own cool-down, and its first credential's."""
    health: ChannelHealth | None = getattr(channel, "health", None)
    ends = [health.cooldown_until] if health and health.cooldown_until else []
    of_credentials = [end for row in enabled if (end := _rests_until(channel, row, now))]
    if enabled and len(of_credentials) == len(enabled):
        ends.append(min(of_credentials))
    return max((end for end in ends if end > now), default=None)


def _rests_until(channel: Channel, credential: Credential, now: datetime) -> datetime | None:
    """When a credential that rests now, whatever is asked of it, may be used again."""
    own = [row for row in channel.rests.all() if row.is_of_credential and row.credential_id == credential.pk]
    return max((row.until for row in own if row.until and row.is_active(now)), default=None)


def last_fault(channel: Channel) -> str:
    """What the channel itself last did wrong, and how many paid calls it left without an answer."""
    health: ChannelHealth | None = getattr(channel, "health", None)
    if health is None:
        return "none"
    return f"{health.last_kind} at {told(health.last_at)}; {health.unknown_total} paid calls with unknown outcome"


def of_credential(row: Credential, now: datetime) -> str:
    """One line."""
    if row.retired_at is not None:
        return "retired: only follows the jobs that it bought"
    if row.disabled_at is not None:
        by = "by itself" if row.probe_at else "by an operator"
        return f"disabled {by}"
    if row.suspected_at is not None:
        return "in use, suspected until a probe confirms it"
    if until := _rests_until(row.channel, row, now):
        return f"rests until {told(until)}"
    return "in use"


def elsewhere(row: Credential) -> str:
    """A credential of another origin than its channel has now."""
    return f"its credential {row} was entered for {row.origin or 'no address'} and is sent nowhere else: enter it again"


def disabled(row: Credential) -> str:
    """A disabled credential: since when and why."""
    return f"credential {row} is disabled since {told(row.disabled_at)}: {reason(row)}"


def advice(row: Credential) -> str:
    """What to do about a disabled credential."""
    probed = f"it is probed again at {told(row.probe_at)}; or " if row.probe_at else ""
    return f"{probed}enable it in the admin, or store a new one"


def reason(row: Credential) -> str:
    return row.reason or "by an operator"


def told(moment: datetime | None) -> str:
    return words.absolute(moment)
