"""State of each enabled channel in words, read by four statements."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Prefetch

from catalog import standing
from catalog.health.words import FAULTS, WHY
from catalog.models import Channel, ChannelHealth, ChannelModel, Credential, OperatorStanding, Rest
from desk.kit.actions import Offered, page_of

ORDER = ("disabled", "cooling down", "paused", "drained", "ok")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelNow:
    """Enabled channel. `health` is a word of ORDER; `until` is the end of its cool-down. `fault` is its last fault, or
    why its credentials are disabled. Retired credentials are not counted."""

    id: int
    name: str
    url: str
    health: str
    until: datetime | None
    running: int
    limit: int | None
    fault: str
    fault_at: datetime | None
    credentials: int
    disabled_credentials: int
    row: Channel
    buttons: tuple[Offered, ...] = field(default=())

    @property
    def is_full(self) -> bool:
        return self.limit is not None and self.running >= self.limit

    def obstacle(self) -> str:
        """Explain why no task starts here now, as the end of a sentence; empty if one may start."""
        match self.health:
            case "disabled":
                return f"channel {self.name} has no credential that works ({self.fault or 'disabled'})"
            case "paused":
                return f"channel {self.name} is paused by an operator"
            case "cooling down":
                return f"channel {self.name} is cooling down ({self.fault or 'it asked for a pause'})"
        return f"channel {self.name} runs {self.limit} tasks, its limit" if self.is_full else ""


def read(running: Mapping[int | None, int], now: datetime) -> tuple[ChannelNow, ...]:
    """Read the channels, those in trouble first, with the data that their buttons need."""
    kept = Credential.objects.filter(retired_at=None).defer("ciphertext")
    rows = Channel.objects.filter(enabled=True).select_related("health").order_by("name")
    models = ChannelModel.objects.only("id", "channel_id")
    rows = rows.prefetch_related(Prefetch("credentials", kept), Prefetch("channel_models", models), "rests")
    found = [_row(row, running.get(row.pk, 0), now) for row in rows]
    return tuple(sorted(found, key=lambda row: (ORDER.index(row.health), row.name)))


def _row(channel: Channel, running: int, now: datetime) -> ChannelNow:
    credentials = list(channel.credentials.all())
    disabled = [row for row in credentials if row.disabled_at]
    until = standing.cooling_until(channel, [row for row in credentials if not row.disabled_at], now)
    word = next(_words(channel, is_disabled=len(disabled) == len(credentials) > 0, is_cooling=until is not None), "ok")
    fault, fault_at = _fault(channel, disabled if word == "disabled" else [])
    return ChannelNow(
        id=channel.pk,
        name=channel.name,
        url=page_of(channel),
        health=word,
        until=until if word == "cooling down" else None,
        running=running,
        limit=channel.max_running,
        fault=fault,
        fault_at=fault_at,
        credentials=len(credentials),
        disabled_credentials=len(disabled),
        row=channel,
    )


def _words(channel: Channel, *, is_disabled: bool, is_cooling: bool) -> Iterator[str]:
    """Yield what holds the channel back, the worst first."""
    if is_disabled:
        yield "disabled"
    if channel.standing == OperatorStanding.PAUSED:
        yield "paused"
    if is_cooling:
        yield "cooling down"
    if channel.standing == OperatorStanding.DRAINED:
        yield "drained"


def _fault(channel: Channel, disabled: list[Credential]) -> tuple[str, datetime | None]:
    if disabled:
        latest = max(disabled, key=lambda row: str(row.disabled_at))
        return standing.reason(latest), latest.disabled_at
    health: ChannelHealth | None = getattr(channel, "health", None)
    rests = [row for row in channel.rests.all() if row.since and row.is_of_credential]
    if (last := max(rests, key=lambda row: str(row.since), default=None)) and not (health and health.cooldown_until):
        return WHY[Rest.Cause(last.cause)], last.since
    if health is None or not health.last_kind:
        return "", None
    return FAULTS.get(health.last_kind, health.last_kind.replace("_", " ")), health.last_at
