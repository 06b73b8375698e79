"""How the channels of groups stand, kept in memory for at most a second: what a relayed call needs to know of their
credentials and cool-downs without asking the database.

One reading serves all calls of the process. What an operator changes raises the catalog version, which is a part of
the reading; what other processes learn of a channel is seen a second later.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog import credentials
from catalog.credentials import Opened
from common import sql

LONGEST_SECONDS = 1.0
OPTIONS_SECONDS = 3600
"""How long a channel is not sent `stream_options` that has refused them."""
CREDENTIALS = """
SELECT c.id, c.channel_id, c.origin, c.ciphertext, c.disabled_at IS NOT NULL AS is_disabled,
    CASE WHEN c.cooldown_until > {now} THEN {rest} END AS rest, c.cooldowns > 0 OR c.probes > 0 AS is_marked
FROM catalog_credential c JOIN catalog_groupchannel l ON l.channel_id = c.channel_id
WHERE c.retired_at IS NULL ORDER BY c.id
"""
CHANNELS = """
SELECT h.channel_id, CASE WHEN h.cooldown_until > {now} THEN {rest} END AS rest, h.last_kind,
    h.cooldowns > 0 OR h.cooldown_until <= {now} OR (h.cooldown_until IS NOT NULL AND h.last_kind = 'transient')
        AS is_marked,
    CASE WHEN h.stream_options_refused_at > {lately} THEN h.stream_options_refused_by END AS refuses_options_at
FROM catalog_channelhealth h JOIN catalog_groupchannel l ON l.channel_id = h.channel_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialStanding:
    """A credential in use, or disabled. `opened` is None where no key of ENCRYPTION_KEYS opens it; until `rests_until`,
    by the monotonic clock, it cools down. `is_marked`: something counts against it that a success takes back."""

    id: int
    origin: str
    opened: Opened | None = field(repr=False)
    is_disabled: bool
    rests_until: float
    is_marked: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelStanding:
    """`is_unreachable`: where it rests, that is because it could not be reached, not because it was busy.
    `refuses_options_at` is the address that takes no `stream_options`, empty where none is known."""

    credentials: tuple[CredentialStanding, ...] = ()
    rests_until: float = 0.0
    is_unreachable: bool = False
    is_marked: bool = False
    refuses_options_at: str = ""


UNTOUCHED = ChannelStanding()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelReading:
    """All channels of groups, by id, as they stood at `read_at` by the monotonic clock."""

    version: int
    read_at: float
    channels: Mapping[int, ChannelStanding]

    def is_fresh(self, version: int) -> bool:
        return self.version == version and time.monotonic() - self.read_at < LONGEST_SECONDS

    def of(self, channel_id: int) -> ChannelStanding:
        return self.channels.get(channel_id, UNTOUCHED)


_lock = threading.Lock()
_kept: ChannelReading | None = None
_forgotten = 0
"""How often: what was being read meanwhile is not kept."""


def kept(version: int) -> ChannelReading | None:
    """The reading in memory, where it still holds for this version."""
    reading = _kept
    return reading if reading is not None and reading.is_fresh(version) else None


def last() -> ChannelReading | None:
    """The reading in memory, however old."""
    return _kept


def current(version: int) -> ChannelReading:
    """The reading in memory, else a new one: two statements, by one thread for all that wait for it."""
    global _kept
    if reading := kept(version):
        return reading
    with _lock:
        if reading := kept(version):
            return reading
        before = _forgotten
        reading = _read(version)
        if _forgotten == before:
            _kept = reading
        return reading


def forget() -> None:
    """Read anew for the next call."""
    global _kept, _forgotten
    _kept, _forgotten = None, _forgotten + 1


def _read(version: int) -> ChannelReading:
    began, now = time.monotonic(), sql.now()
    rows = sql.records(CREDENTIALS.format(now=now, rest=sql.seconds_between(now, "c.cooldown_until")))
    rest, lately = sql.seconds_between(now, "h.cooldown_until"), sql.later(f"-{OPTIONS_SECONDS}")
    stood = sql.records(CHANNELS.format(now=now, rest=rest, lately=lately))
    ended = time.monotonic()
    of_channel: dict[int, list[CredentialStanding]] = defaultdict(list)
    for row in rows:
        of_channel[row.channel_id].append(
            CredentialStanding(
                id=row.id,
                origin=row.origin,
                opened=credentials.opened(row),
                is_disabled=bool(row.is_disabled),
                rests_until=_end(ended, row.rest),
                is_marked=bool(row.is_marked),
            )
        )
    health = {row.channel_id: row for row in stood}
    channels = {}
    for channel_id in of_channel.keys() | health.keys():
        row = health.get(channel_id)
        channels[channel_id] = ChannelStanding(
            credentials=tuple(of_channel[channel_id]),
            rests_until=_end(ended, row.rest if row else None),
            is_unreachable=row is not None and row.last_kind == "transient",
            is_marked=row is not None and bool(row.is_marked),
            refuses_options_at=(row and row.refuses_options_at) or "",
        )
    return ChannelReading(version=version, read_at=began, channels=channels)


def _end(now: float, rest: object) -> float:
    return 0.0 if rest is None else now + float(str(rest))
