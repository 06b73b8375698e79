"""Which channels of a group a relayed call goes to, in which order, and what its outcome says about them."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from adapters.base import FAULTS, OF_CREDENTIAL, ErrorKind, Fault, UpstreamError, text
from catalog import tariffs
from catalog.connections import turns
from catalog.groups import GroupChannelEntry, GroupEntry
from catalog.health import cooldowns, outcomes, probing, relay_reading, rests
from catalog.health.calls import ChannelCall
from catalog.health.relay_reading import RelayCredential, RelayReading
from catalog.health.states import Availability
from catalog.health.words import briefly
from catalog.models import Rest
from common import urls
from common.errors import ApiError, UpstreamBusy, UpstreamUnavailable
from common.http.dialects import LONGEST_RETRY_SECONDS

MOST_CREDENTIALS = 3
"""Of one channel that one call tries; whose turn it is changes from call to call."""

_origin = lru_cache(maxsize=1_000)(urls.origin)
"""Of the addresses of channels, which are few."""
LONGEST_MODEL = 200
"""Characters of a model's name by which it rests."""
Draw = Callable[[float], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelQuery:
    """What a relayed call asks of channels: the dialect, the model as the client names it, and for which account."""

    dialect: str
    model: str
    account_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to send a call: a channel, and a credential of its origin in the clear. Without `takes_stream_options` it
    has lately refused that field."""

    link: GroupChannelEntry
    credentials: Mapping[str, str] = field(repr=False)
    call: ChannelCall
    takes_stream_options: bool = True

    @property
    def credential_id(self) -> int | None:
        return self.call.credential_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Resting:
    """Until the first channel that rests may be tried again, in seconds, and for which cause it does."""

    seconds: float
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """`ready` in the order in which to try them; those of one channel follow each other (`may_follow`). `resting` are
    the channels that rest, but for those that cannot be reached."""

    ready: tuple[Candidate, ...]
    resting: tuple[Resting, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """How one channel stands: its candidates, or in words why it has none. `resting` is None where it does not rest, or
    because it cannot be reached."""

    link: GroupChannelEntry
    ready: tuple[Candidate, ...] = ()
    obstacle: str = ""
    resting: Resting | None = None


def candidates(
    entry: GroupEntry, wanted: ChannelQuery, catalog_version: int, *, draw: Draw = random.expovariate
) -> Candidates:
    """The ways to send a call now: by priority, equal priorities by a weighted draw. It may read the database: call it
    on a thread."""
    return _ready(_verdicts(entry, wanted, relay_reading.current(catalog_version), draw))


def remembered(
    entry: GroupEntry, wanted: ChannelQuery, catalog_version: int, *, draw: Draw = random.expovariate
) -> Candidates | None:
    """The same from memory alone, so never a wait; None where that does not hold any more."""
    reading = relay_reading.kept(catalog_version)
    return None if reading is None else _ready(_verdicts(entry, wanted, reading, draw))


def verdicts(
    entry: GroupEntry, wanted: ChannelQuery, catalog_version: int, *, draw: Draw = random.expovariate
) -> list[Verdict]:
    """Each enabled channel in the order in which it would be tried. Blocks as `candidates` does."""
    return _verdicts(entry, wanted, relay_reading.current(catalog_version), draw)


def _ready(judged: list[Verdict]) -> Candidates:
    return Candidates(
        ready=tuple(candidate for verdict in judged for candidate in verdict.ready),
        resting=tuple(verdict.resting for verdict in judged if verdict.resting is not None),
    )


def _verdicts(entry: GroupEntry, wanted: ChannelQuery, reading: RelayReading, draw: Draw) -> list[Verdict]:
    # Exponential waiting times with the weights as rates come in exactly the order of a weighted draw.
    ordered = sorted(
        entry.channels,
        key=lambda link: (link.priority, link.weight == 0, draw(link.weight) if link.weight else 0.0),
    )
    elapsed = reading.elapsed
    return [_judged(link, wanted, reading, elapsed) for link in ordered]


def _judged(link: GroupChannelEntry, wanted: ChannelQuery, reading: RelayReading, elapsed: float) -> Verdict:
    if wanted.dialect not in link.dialects:
        return Verdict(link=link, obstacle=f"does not speak {wanted.dialect}")
    if link.channel.standing != "on":  # a relayed call cannot wait: it goes elsewhere
        return Verdict(link=link, obstacle=f"is {link.channel.standing}")
    origin, stored = _origin(link.channel.base_url), reading.credentials_of(link.channel.id)
    usable = {row.id: row for row in stored if row.origin == origin and not row.is_disabled and row.opened}
    if not usable:
        return Verdict(link=link, obstacle=_lack(stored, origin))
    model = text(link.upstream_model(wanted.model))[:LONGEST_MODEL]
    state = reading.state_of(link.channel.id)
    found = state.judge(model, wanted.account_id, among=usable, elapsed=elapsed)
    if found.obstacle:
        return _resting(link, found)
    ready = [usable[credential_id] for credential_id in found.credentials]
    call = ChannelCall(
        channel_id=link.channel.id, credential_id=None, upstream_model=model, account_id=wanted.account_id
    )
    return Verdict(link=link, ready=tuple(_in_turn(link, call, reading, ready, found)))


def _in_turn(
    link: GroupChannelEntry, call: ChannelCall, reading: RelayReading, ready: list[RelayCredential], found: Availability
) -> Iterator[Candidate]:
    """The call with each of these credentials, beginning with whose turn it is."""
    channel, start = link.channel, turns.next(link.channel.id) % len(ready)
    for row in [*ready[start:], *ready[:start]][:MOST_CREDENTIALS]:
        if row.opened:
            yield Candidate(
                link=link,
                credentials=row.opened.values,
                call=replace(call, credential_id=row.id, tried=found.tried_with(row.id)),
                takes_stream_options=reading.refused_options.get(channel.id) != channel.base_url,
            )


def _resting(link: GroupChannelEntry, found: Availability) -> Verdict:
    is_unreachable = found.cause == ErrorKind.TRANSIENT
    return Verdict(
        link=link,
        obstacle=f"{briefly(found.cause)} for {found.seconds:.0f} s more",
        resting=None if is_unreachable else Resting(seconds=found.seconds, cause=found.cause),
    )


def _lack(stored: Sequence[RelayCredential], origin: str) -> str:
    """Why none of its credentials can be used."""
    own = [row for row in stored if row.origin == origin]
    if not own:
        return "has no credential for its address"
    return "every credential is disabled" if all(row.is_disabled for row in own) else "no credential can be opened"


def none_ready(resting: Sequence[Resting], *, model: str) -> ApiError:
    """What the client of a call reads that no channel can take now. After rate limits it is the caller's to wait, what
    an account of ours lacks is not, and a model that every channel refuses does not exist."""
    waiting = [each for each in resting if each.cause != Rest.Cause.MODEL]
    if resting and not waiting:
        return tariffs.not_found(model)
    headers = retry_after([each.seconds for each in waiting])
    is_busy = any(each.cause != Rest.Cause.ACCOUNT for each in waiting)
    return UpstreamBusy(headers=headers) if is_busy else UpstreamUnavailable(headers=headers)


def retry_after(waits: Sequence[float]) -> dict[str, str]:
    """The header that names the shortest of these waits, in seconds; none without any."""
    return {"Retry-After": str(min(max(math.ceil(min(waits)), 1), LONGEST_RETRY_SECONDS))} if waits else {}


def may_follow(candidate: Candidate, failed: Candidate, error: UpstreamError) -> bool:
    """Whether a candidate is worth a try after another one has failed so: not with another credential of the same
    channel, where it was not the credential that failed."""
    return candidate.link.channel.id != failed.link.channel.id or error.kind in OF_CREDENTIAL


def begin_trial(candidate: Candidate) -> bool:
    """Whether this call may be the one that tries what rested. Blocks."""
    may_try = rests.begin_trial(candidate.call.tried, candidate.call.account_id)
    relay_reading.forget()
    return may_try


def refused(candidate: Candidate, error: UpstreamError) -> None:
    """A call to it has failed so: what follows for the channel is written down, as of a paid call of a task. Blocks,
    but for no probe."""
    if FAULTS.get(error.kind) is Fault.REQUEST and not is_marked(candidate):
        return
    outcomes.refused(candidate.call, error)
    if error.kind is not ErrorKind.FORBIDDEN or candidate.call.tried:  # which changes nothing, however often it comes
        relay_reading.forget()
    if error.kind is ErrorKind.AUTH:
        probing.confirm_soon(candidate.credential_id)


def succeeded(candidate: Candidate) -> None:
    """It has answered as it should. Blocks only where something counted against it (`is_marked`)."""
    if is_marked(candidate):
        outcomes.succeeded([candidate.call])
        relay_reading.forget()


def refuses_stream_options(candidate: Candidate) -> None:
    """Every process leaves that field out of calls to it for an hour. Blocks."""
    cooldowns.refuses_stream_options(candidate.link.channel.id, candidate.link.channel.base_url)
    relay_reading.forget()


def is_marked(candidate: Candidate) -> bool:
    """Whether anything counts against the channel, the model or the credential that a success takes back, as what the
    call tries does; from memory alone."""
    reading = relay_reading.last()
    return bool(candidate.call.tried) or (reading is not None and reading.marks.concern(candidate.call))
