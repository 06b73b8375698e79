"""Where a task may go next: to one of its open routes at once, back to the queue for a while, or to its end.

Pure: from the paid calls of the task that failed, and from what holds each of its open routes back now. A route leaves
the open ones only for a refusal that never passes. Routes that are busy or cannot be reached stay open: the cool-downs
of their channels (`catalog/health/`) hold them back, and the claim obeys those.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from adapters.base import OF_CREDENTIAL, REFUSES_CREDENTIAL, ErrorKind
from common import backoff
from tasks.failures import OF_KIND, OUTCOME_UNKNOWN, REJECTED, ROUTE_VANISHED, STORAGE_UNAVAILABLE, UNAVAILABLE, Failure

UNREACHABLE_ROUNDS = 4  # providers that let nothing in are given up after 1 + 2 + 4 + 8 seconds
AMBIGUOUS_ROUNDS = 2  # where the operator opted in to buying again
CALLS_A_WAIT = 2  # so often a credential of a route may be refused, on average, for each time that its task waits

Obstacle = Literal["", "busy", "paused", "cooling down", "disabled", "gone"]
"""What holds a route back: nothing, or its channel is full, rests or is disabled, or an operator has paused it or its
model, or the catalog has it no more."""

UNPAID, BROKEN, UNSTORED, GONE = "unpaid", "broken", "unstored", "gone"
"""Kinds of our own: a fault of ours before anything was sent; one after which nobody knows; a result that our storage
did not take; the route cannot run the task any more."""

LETS_NOBODY_IN = (ErrorKind.TRANSIENT, ErrorKind.AUTH)
"""A provider that cannot be reached, or takes no credential though its probes pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """An open route of a task, what holds it back now, and how many credentials of its channel are enabled."""

    route_id: int
    obstacle: Obstacle
    credentials: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
    """A paid call that brought nothing: `kind` is an ErrorKind's value or one of ours. Without a credential it went out
    because none of the channel's can be opened."""

    route_id: int
    kind: str
    credential_id: int | None = None

    @property
    def is_permanent(self) -> bool:
        """Whether this route will never run this task."""
        if self.kind in REFUSES_CREDENTIAL:
            return self.credential_id is None
        return self.kind in (GONE, ErrorKind.MODEL_UNAVAILABLE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """The end with this failure; else the queue, with these open routes and for so long a wait of the task's own."""

    failure: Failure | None = None
    routes: tuple[int, ...] = ()
    wait_seconds: float = 0.0


def lead(
    ways: Iterable[Way], failed: Sequence[FailedCall] = (), *, waits: int = 0, may_buy_again: bool = False
) -> Next:
    """The next step of a task with these open routes.

    `failed` are its failed calls, one an attempt; the last has just failed, and none means that the task is queued.
    `waits` is how often it has waited, and with `may_buy_again` the operator allows to buy after an ambiguous answer.
    """
    open_ways = list(ways)
    last = failed[-1] if failed else None
    left = [way for way in open_ways if not (failed and _is_over(way, open_ways, failed))]
    alive = {way.route_id: way.obstacle for way in left if way.obstacle not in ("disabled", "gone")}
    failure = _end(failed, may_buy_again=may_buy_again) if last else None
    if failure is None and not alive:
        failure = _dead_end(left, last)
    elif failure is None and _is_unreachable(alive, failed):
        failure = UNAVAILABLE
    if failure:
        return Next(failure=failure)
    wait = _wait({way.route_id: way for way in left if way.route_id in alive}, failed, waits) if last else 0.0
    return Next(routes=tuple(way.route_id for way in left), wait_seconds=wait)


def _is_over(way: Way, ways: Sequence[Way], failed: Sequence[FailedCall]) -> bool:
    """Whether the task does not go back to this route, which refused last: it will never run the task, or it refuses
    each of its credentials, and another route is left. One that forbids without a reason is not waited for either."""
    last = failed[-1]
    if way.route_id != last.route_id or last.is_permanent:
        return way.route_id == last.route_id
    if last.kind not in REFUSES_CREDENTIAL or not _has_tried_each(way, failed):
        return False
    others = [each for each in ways if each != way and each.obstacle not in ("disabled", "gone")]
    return bool(others) or last.kind == ErrorKind.FORBIDDEN


def _has_tried_each(way: Way, failed: Sequence[FailedCall]) -> bool:
    """Whether the route has refused as many calls as it has enabled credentials: those that were not tried are taken
    first."""
    refused = [call for call in failed if call.route_id == way.route_id and call.kind in REFUSES_CREDENTIAL]
    return len(refused) >= way.credentials


def _end(failed: Sequence[FailedCall], *, may_buy_again: bool) -> Failure | None:
    """Why the task ends with its last call, wherever else it might go."""
    last, times = failed[-1], _times(failed)
    if last.kind in (ErrorKind.AMBIGUOUS, BROKEN):
        is_allowed = last.kind == ErrorKind.AMBIGUOUS and may_buy_again and times <= AMBIGUOUS_ROUNDS
        return None if is_allowed else OUTCOME_UNKNOWN
    if last.kind == UNSTORED:
        return STORAGE_UNAVAILABLE
    if last.is_permanent or (last.kind == ErrorKind.ASSET_UNREACHABLE and times == 1):
        return None
    return OF_KIND.get(last.kind)


def _times(failed: Sequence[FailedCall]) -> int:
    """How many calls failed as the last one did."""
    return sum(call.kind == failed[-1].kind for call in failed)


def _dead_end(left: Sequence[Way], last: FailedCall | None) -> Failure:
    """Why no route is left: what the one said that has just been given up, else how the others stand."""
    if last and last.kind in (ErrorKind.MODEL_UNAVAILABLE, ErrorKind.FORBIDDEN):
        return REJECTED
    is_gone = last.kind == GONE if last and last.is_permanent else all(way.obstacle == "gone" for way in left)
    return ROUTE_VANISHED if is_gone else UNAVAILABLE


def _is_unreachable(alive: Iterable[int], failed: Sequence[FailedCall]) -> bool:
    """Whether nobody could be reached, or took a credential, on any route, too often in a row."""
    latest = {call.route_id: call.kind for call in failed}
    times = 0
    for call in reversed(failed):
        if call.kind not in LETS_NOBODY_IN:
            break
        times += 1
    routes = list(alive)
    is_answered = any(latest.get(route) not in LETS_NOBODY_IN for route in routes)
    return not is_answered and times > UNREACHABLE_ROUNDS * len(routes)


def _wait(alive: Mapping[int, Way], failed: Sequence[FailedCall], waits: int) -> float:
    """For how long the task waits by itself, since another's success may wake the channels that refused this one.

    It does not where a route is left that has not refused it since it last began anew, or another credential of the
    last: the claim gives it that one as soon as it may. But the one that is left may be full for long, and then the
    others refuse again and again.
    """
    last = failed[-1]
    limit = CALLS_A_WAIT * len({(call.route_id, call.credential_id) for call in failed}) * (waits + 1)
    if last.kind in (ErrorKind.ASSET_UNREACHABLE, ErrorKind.AMBIGUOUS):
        return backoff.seconds(_times(failed) - 1)
    is_left = alive.keys() - _refused_lately(failed) or _has_other_credential(alive, failed)
    return 0.0 if is_left and last.kind != UNPAID and len(failed) < limit else backoff.seconds(waits)


def _refused_lately(failed: Sequence[FailedCall]) -> set[int]:
    """The routes that have refused in the present round. A new round begins when a route refuses for the second time
    with the same credential: by then its channel has rested, and the claim has come back to it."""
    lately: set[tuple[int, int | None]] = set()
    for call in failed:
        tried = (call.route_id, call.credential_id)
        lately = {tried} if tried in lately else lately | {tried}
    return {route for route, _ in lately}


def _has_other_credential(alive: Mapping[int, Way], failed: Sequence[FailedCall]) -> bool:
    """Whether the route that refused last can be tried at once with another credential.

    The channel may be full only because of this very task, which is about to give its seat back. Where the same
    credential was refused twice in a row, no other can be opened.
    """
    last, before = failed[-1], failed[-2] if len(failed) > 1 else None
    is_same = before and (before.route_id, before.credential_id) == (last.route_id, last.credential_id)
    way = alive.get(last.route_id)
    if way is None or way.obstacle not in ("", "busy") or last.kind not in OF_CREDENTIAL or is_same:
        return False
    return way.credentials > len({call.credential_id for call in failed if call.route_id == last.route_id})
