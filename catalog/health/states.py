"""How channels stand: which of their credentials a call may use now, and what rests for it. Read by one statement, and
judged in memory, for tasks and for relayed calls alike."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from catalog.models import Rest
from common import sql

Obstacle = Literal["", "cooling down", "disabled"]
NOTHING: frozenset[int] = frozenset()

# Rows: the credentials that are enabled, by channel; channels that have others; channels that cool down; what rests, or
# waits for a call that tries it, with the seconds until it may be tried.
STATES = """
SELECT 'credential' AS kind, channel_id, id, 0 AS credential_id, '' AS upstream_model, 0 AS account_id, '' AS cause,
    0.0 AS seconds, 0.0 AS trial_seconds, 0 AS barred FROM catalog_credential WHERE disabled_at IS NULL {of_channels}
UNION ALL
SELECT 'disabled', channel_id, max(id), 0, '', 0, '', 0.0, 0.0, 0 FROM catalog_credential
WHERE disabled_at IS NOT NULL {of_channels} GROUP BY channel_id
UNION ALL
SELECT 'channel', channel_id, 0, 0, '', 0, last_kind, {rest}, 0.0, 0 FROM catalog_channelhealth
WHERE cooldown_until > {now} {of_channels}
UNION ALL
SELECT 'rest', channel_id, id, credential_id, upstream_model, account_id, cause, {left}, {tried},
    CASE WHEN trial_over THEN trial_by ELSE 0 END FROM catalog_rest
WHERE until IS NOT NULL AND (until > {now} OR cause <> 'rate') {of_channels}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveRest:
    """What rests of a channel: for which credential (0: any), model there (empty: any) and account (0: all).
    `seconds` are left; without any, one call may try it. While one does, `trial_seconds` are left to it, where it is
    not over: then only the account that is `barred` has to wait for them (0: all have)."""

    id: int
    credential_id: int
    upstream_model: str
    account_id: int
    cause: str
    seconds: float
    trial_seconds: float = 0.0
    barred: int = 0

    def left(self, account_id: int, elapsed: float) -> float:
        """The seconds until a call of this account may go there, or try it; 0 or less where it may now."""
        is_barred = self.barred in (0, account_id)
        return max(self.seconds, self.trial_seconds if is_barred else self.seconds) - elapsed

    def concerns(self, upstream_model: str, account_id: int) -> bool:
        return self.account_id in (0, account_id) and self.upstream_model in ("", upstream_model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Availability:
    """What a call may use of a channel now: `credentials` in no order, or why there are none: `cause` is that of the
    rest that ends first, after `seconds`. `trials` are the rests that the call would try, and has to claim before
    (`rests.begin_trial`), by credential; those at 0 whichever it takes."""

    obstacle: Obstacle = ""
    credentials: tuple[int, ...] = ()
    trials: Mapping[int, frozenset[int]] | None = None
    seconds: float = 0.0
    cause: str = ""

    def tried_with(self, credential_id: int | None) -> frozenset[int]:
        """The rests that a call with this credential tries."""
        if not self.trials:
            return NOTHING
        return self.trials.get(0, NOTHING) | self.trials.get(credential_id or 0, NOTHING)


FREE = Availability()
DISABLED = Availability(obstacle="disabled")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelState:
    """How one channel stood when it was read. `cause` is the kind of error for which it cools down, `seconds` long."""

    credentials: tuple[int, ...] = ()
    has_disabled: bool = False
    seconds: float = 0.0
    cause: str = ""
    rests: tuple[ActiveRest, ...] = ()

    def judge(
        self,
        upstream_model: str,
        account_id: int,
        *,
        among: Collection[int] | None = None,
        elapsed: float = 0.0,
        taken: Collection[int] = (),
    ) -> Availability:
        """What a call for this model and account may use. `among` are the credentials that can be opened, None for all;
        `elapsed` are the seconds since it was read, `taken` the rests that others try already."""
        usable = self.credentials if among is None else tuple(row for row in self.credentials if row in among)
        if not usable:
            return DISABLED if self.has_disabled or among is not None else FREE
        if self.seconds > elapsed:
            return _resting(self.seconds - elapsed, self.cause)
        concerned = [rest for rest in self.rests if rest.concerns(upstream_model, account_id)]
        if not concerned:
            return Availability(credentials=usable)
        return _judged(usable, {rest: rest.left(account_id, elapsed) for rest in concerned}, taken)


UNTOUCHED = ChannelState()


def _resting(seconds: float, cause: str) -> Availability:
    return Availability(obstacle="cooling down", seconds=seconds, cause=cause)


def _judged(usable: tuple[int, ...], rests: Mapping[ActiveRest, float], taken: Collection[int]) -> Availability:
    """Credentials that do not rest come before those of which this call would be the one to try a rest."""
    waits: dict[int, tuple[float, str]] = {}
    trials: dict[int, frozenset[int]] = defaultdict(frozenset)
    for rest, left in rests.items():
        if left > 0 or rest.id in taken:
            longest = max((max(left, 0.0), rest.cause), waits.get(rest.credential_id, (0.0, "")))
            waits[rest.credential_id] = longest
        elif rest.cause != Rest.Cause.RATE:
            trials[rest.credential_id] |= {rest.id}
    if 0 in waits:
        return _resting(*waits[0])
    ready = tuple(row for row in usable if row not in waits)
    if not ready:
        return _resting(*min(waits[row] for row in usable))
    calm = tuple(row for row in ready if row not in trials)
    return Availability(credentials=calm or ready, trials=dict(trials))


def read(channel_ids: Collection[int] | None = None) -> dict[int, ChannelState]:
    """The channels of which there is anything to tell, by id: all, or these. One statement."""
    statement = _statement(None if channel_ids is None else len(channel_ids), sql.now())
    rows = sql.records(statement, [*(channel_ids or ())] * 4)
    by_channel: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_channel[row.channel_id].append(row)
    return {channel_id: _state(found) for channel_id, found in by_channel.items()}


@lru_cache(maxsize=64)
def _statement(channels: int | None, now: str) -> str:
    only = "" if channels is None else f"AND channel_id IN ({sql.places(range(channels))})"
    return STATES.format(
        now=now,
        rest=sql.seconds_between(now, "cooldown_until"),
        left=sql.seconds_between(now, "until"),
        tried=sql.seconds_between(now, "COALESCE(trial_until, until)"),
        of_channels=only,
    )


def _state(rows: Iterable[Any]) -> ChannelState:
    kinds: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        kinds[row.kind].append(row)
    cooling = next(iter(kinds["channel"]), None)
    return ChannelState(
        credentials=tuple(sorted(row.id for row in kinds["credential"])),
        has_disabled=bool(kinds["disabled"]),
        seconds=float(cooling.seconds) if cooling else 0.0,
        cause=cooling.cause if cooling else "",
        rests=tuple(map(_active, kinds["rest"])),
    )


def _active(row: Any) -> ActiveRest:
    return ActiveRest(
        id=row.id,
        credential_id=row.credential_id,
        upstream_model=row.upstream_model,
        account_id=row.account_id,
        cause=row.cause,
        seconds=float(row.seconds),
        trial_seconds=float(row.trial_seconds),
        barred=row.barred,
    )


def unusable() -> tuple[frozenset[int], frozenset[int]]:
    """The channels, by id, that are disabled now: they have credentials, but none that is enabled; and those that rest,
    whatever is asked of them."""
    judged = {channel_id: state.judge("", 0).obstacle for channel_id, state in read().items()}
    disabled, resting = (
        frozenset(channel_id for channel_id, obstacle in judged.items() if obstacle == wanted)
        for wanted in ("disabled", "cooling down")
    )
    return disabled, resting
