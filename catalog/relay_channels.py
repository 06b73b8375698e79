"""Which channels of a group a relayed call goes to, in which order, and what its outcome says about them."""

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from adapters.base import ErrorKind, UpstreamError
from catalog import health, relay_standing
from catalog.connections import turns
from catalog.groups import GroupChannelEntry, GroupEntry
from catalog.relay_standing import ChannelStanding
from common import urls

MOST_CREDENTIALS = 3
"""Of one channel that one call tries; whose turn it is changes from call to call."""
OF_CREDENTIAL = frozenset({ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.RATE_LIMITED})
OF_CHANNEL = OF_CREDENTIAL | {ErrorKind.OVERLOADED, ErrorKind.TRANSIENT, ErrorKind.AMBIGUOUS}

_origin = lru_cache(maxsize=1_000)(urls.origin)
"""Of the addresses of channels, which are few."""
Draw = Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to send a call: a channel, and a credential of its origin in the clear. Without `takes_stream_options` it
    has lately refused that field."""

    link: GroupChannelEntry
    credential_id: int | None
    credentials: Mapping[str, str] = field(repr=False)
    takes_stream_options: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """`ready` in the order in which to try them; those of one channel follow each other (`may_follow`).
    `resting_seconds` is the time until the first channel that was busy may be used again, None where none was."""

    ready: tuple[Candidate, ...]
    resting_seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one channel stands: its candidates, or in words why it has none. `rests` is in seconds; None where it does
    not rest, or because it cannot be reached."""

    link: GroupChannelEntry
    ready: tuple[Candidate, ...] = ()
    obstacle: str = ""
    rests: float | None = None


def candidates(entry: GroupEntry, dialect: str, catalog_version: int, *, draw: Draw = random.expovariate) -> Candidates:
    """The ways to send a call of this dialect now: by priority, equal priorities by a weighted draw. It may read the
    database: call it on a thread."""
    return _ready(_verdicts(entry, dialect, relay_standing.current(catalog_version), draw))


def remembered(
    entry: GroupEntry, dialect: str, catalog_version: int, *, draw: Draw = random.expovariate
) -> Candidates | None:
    """The same from memory alone, so never a wait; None where that does not hold any more."""
    reading = relay_standing.kept(catalog_version)
    return None if reading is None else _ready(_verdicts(entry, dialect, reading, draw))


def verdicts(
    entry: GroupEntry, dialect: str, catalog_version: int, *, draw: Draw = random.expovariate
) -> list[Verdict]:
    """Each enabled channel in the order in which it would be tried. Blocks as `candidates` does."""
    return _verdicts(entry, dialect, relay_standing.current(catalog_version), draw)


def _ready(judged: list[Verdict]) -> Candidates:
    return Candidates(
        ready=tuple(candidate for verdict in judged for candidate in verdict.ready),
        resting_seconds=min((verdict.rests for verdict in judged if verdict.rests is not None), default=None),
    )


def _verdicts(entry: GroupEntry, dialect: str, reading: relay_standing.ChannelReading, draw: Draw) -> list[Verdict]:
    now = time.monotonic()
    # Exponential waiting times with the weights as rates come in exactly the order of a weighted draw.
    ordered = sorted(
        entry.channels,
        key=lambda link: (link.priority, link.weight == 0, draw(link.weight) if link.weight else 0.0),
    )
    return [_judged(link, dialect, reading.of(link.channel.id), now) for link in ordered]


def _judged(link: GroupChannelEntry, dialect: str, standing: ChannelStanding, now: float) -> Verdict:
    if dialect not in link.dialects:
        return Verdict(link=link, obstacle=f"does not speak {dialect}")
    if link.channel.standing != "on":  # a relayed call cannot wait: it goes elsewhere
        return Verdict(link=link, obstacle=f"is {link.channel.standing}")
    origin = _origin(link.channel.base_url)
    usable = [row for row in standing.credentials if row.origin == origin and not row.is_disabled and row.opened]
    if not usable:
        return Verdict(link=link, obstacle=_lack(standing, origin))
    if standing.rests_until > now:
        return _resting(link, standing.rests_until - now, is_unreachable=standing.is_unreachable)
    ready = [row for row in usable if row.rests_until <= now]
    if not ready:
        return _resting(link, min(row.rests_until for row in usable) - now)
    start = turns.next(link.channel.id) % len(ready)
    in_turn = [*ready[start:], *ready[:start]][:MOST_CREDENTIALS]
    takes = standing.refuses_options_at != link.channel.base_url
    found = (
        Candidate(link=link, credential_id=row.id, credentials=row.opened.values, takes_stream_options=takes)
        for row in in_turn
        if row.opened
    )
    return Verdict(link=link, ready=tuple(found))


def _resting(link: GroupChannelEntry, seconds: float, *, is_unreachable: bool = False) -> Verdict:
    obstacle = f"cools down for {seconds:.0f} s more"
    return Verdict(link=link, obstacle=obstacle, rests=None if is_unreachable else seconds)


def _lack(standing: ChannelStanding, origin: str) -> str:
    """Why none of its credentials can be used."""
    own = [row for row in standing.credentials if row.origin == origin]
    if not own:
        return "has no credential for its address"
    return "every credential is disabled" if all(row.is_disabled for row in own) else "no credential can be opened"


def may_follow(candidate: Candidate, failed: Candidate, error: UpstreamError) -> bool:
    """Whether a candidate is worth a try after another one has failed so: not with another credential of the same
    channel, where it was not the credential that failed."""
    return candidate.link.channel.id != failed.link.channel.id or error.kind in OF_CREDENTIAL


def refused(candidate: Candidate, error: UpstreamError) -> None:
    """A call to it has failed so: it rests, is disabled or only counted, as of a paid call of a task. Blocks."""
    if error.kind not in OF_CHANNEL:  # a refusal of the request: the channel lives
        succeeded(candidate)
        return
    health.refused(candidate.link.channel.id, candidate.credential_id, error)
    relay_standing.forget()


def succeeded(candidate: Candidate) -> None:
    """It has answered as it should. Blocks only where something counted against it (`is_marked`)."""
    if is_marked(candidate):
        health.succeeded(candidate.link.channel.id, candidate.credential_id)
        relay_standing.forget()


def refuses_stream_options(candidate: Candidate) -> None:
    """Every process leaves that field out of calls to it for an hour. Blocks."""
    health.refuses_stream_options(candidate.link.channel.id, candidate.link.channel.base_url)
    relay_standing.forget()


def is_marked(candidate: Candidate) -> bool:
    """Whether anything counts against the channel or its credential that a success takes back; from memory alone."""
    reading = relay_standing.last()
    if reading is None:
        return False
    standing = reading.of(candidate.link.channel.id)
    return standing.is_marked or any(row.is_marked for row in standing.credentials if row.id == candidate.credential_id)
