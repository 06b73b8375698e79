"""How the channels of groups stand, kept in memory for at most a second: what a relayed call needs to know of their
credentials and of what rests without asking the database.

One reading serves all calls of the process. What an operator changes raises the catalog version, which is a part of
the reading; what other processes learn of a channel is seen a second later.
"""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from catalog import connections
from catalog.connections import Opened
from catalog.health import outcomes, states
from catalog.health.outcomes import Marks
from catalog.health.states import UNTOUCHED, ChannelState
from common import sql

LONGEST_SECONDS = 1.0
OPTIONS_SECONDS = 3600
"""How long a channel is not sent `stream_options` that has refused them."""
CREDENTIALS = """
SELECT c.id, c.channel_id, c.origin, c.ciphertext, c.disabled_at IS NOT NULL AS is_disabled
FROM catalog_credential c JOIN catalog_groupchannel l ON l.channel_id = c.channel_id
WHERE c.retired_at IS NULL ORDER BY c.id
"""
REFUSED_OPTIONS = """
SELECT channel_id, stream_options_refused_by AS address FROM catalog_channelhealth
WHERE stream_options_refused_at > {lately}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayCredential:
    """A credential in use, or disabled. `opened` is None where no key of ENCRYPTION_KEYS opens it."""

    id: int
    origin: str
    opened: Opened | None = field(repr=False)
    is_disabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RelayReading:
    """All channels of groups, by id, as they stood at `read_at` by the monotonic clock. A success would take back the
    `marks`; `refused_options` are the addresses that take no `stream_options`."""

    version: int
    read_at: float
    credentials: Mapping[int, tuple[RelayCredential, ...]]
    states: Mapping[int, ChannelState]
    marks: Marks
    refused_options: Mapping[int, str]

    def is_fresh(self, version: int) -> bool:
        return self.version == version and self.elapsed < LONGEST_SECONDS

    @property
    def elapsed(self) -> float:
        """The seconds since it was read."""
        return time.monotonic() - self.read_at

    def credentials_of(self, channel_id: int) -> tuple[RelayCredential, ...]:
        return self.credentials.get(channel_id, ())

    def state_of(self, channel_id: int) -> ChannelState:
        return self.states.get(channel_id, UNTOUCHED)


_lock = threading.Lock()
_kept: RelayReading | None = None
_forgotten = 0
"""How often: what was being read meanwhile is not kept."""


def kept(version: int) -> RelayReading | None:
    """The reading in memory, where it still holds for this version."""
    reading = _kept
    return reading if reading is not None and reading.is_fresh(version) else None


def last() -> RelayReading | None:
    """The reading in memory, however old."""
    return _kept


def current(version: int) -> RelayReading:
    """The reading in memory, else a new one, by one thread for all that wait for it."""
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


def _read(version: int) -> RelayReading:
    began = time.monotonic()
    found: dict[int, list[RelayCredential]] = defaultdict(list)
    for row in sql.records(CREDENTIALS):
        opened = connections.opened(row)
        credential = RelayCredential(id=row.id, origin=row.origin, opened=opened, is_disabled=bool(row.is_disabled))
        found[row.channel_id].append(credential)
    refused = sql.records(REFUSED_OPTIONS.format(lately=sql.later(str(-OPTIONS_SECONDS))))
    return RelayReading(
        version=version,
        read_at=began,
        credentials={channel_id: tuple(rows) for channel_id, rows in found.items()},
        states=states.read(found),
        marks=outcomes.read_marks(found),
        refused_options={row.channel_id: row.address for row in refused},
    )
