"""What a provider's refusal or fault means for the task. Pure: from the kind of the error to the next step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from adapters.base import ErrorKind, UpstreamError
from tasks import failures
from tasks.failures import Failure

FINAL_AT_PROVIDER = frozenset(
    {
        ErrorKind.INVALID_REQUEST,
        ErrorKind.CONTENT_POLICY,
        ErrorKind.ASSET_UNREACHABLE,
        ErrorKind.EMPTY_RESULT,
        ErrorKind.PROVIDER_FAILED,
    }
)
WORTH_WAITING = frozenset({ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED, ErrorKind.TRANSIENT})
UNREACHABLE_ROUNDS = 4  # a provider that cannot be reached at all is given up after 1 + 2 + 4 + 8 seconds
AMBIGUOUS_ROUNDS = 2  # where the operator opted in to buying again
LONGEST_WAIT_SECONDS = 60.0
LONGEST_RETRY_AFTER_SECONDS = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoiled:
    """A paid call of the task that was refused or lost, and why."""

    route_id: int
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`fail` ends the task; `next` tries another route; `again` returns it to the queue with the same routes."""

    step: Literal["fail", "next", "again"]
    call_state: Literal["refused", "unknown", "done"] = "refused"
    failure: Failure = failures.UNAVAILABLE
    delay_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Back to the queue for so long; then only these routes are tried again."""

    routes: frozenset[int]
    delay_seconds: float


def of_submit(error: UpstreamError, *, earlier: Sequence[Spoiled], may_buy_again: bool) -> Verdict:
    """After a paid call raised. `earlier` are the task's spoiled calls before this one."""
    times = sum(spoiled.kind == error.kind for spoiled in earlier)
    if error.maybe_accepted:
        if may_buy_again and times < AMBIGUOUS_ROUNDS:
            return Verdict(step="again", call_state="unknown", delay_seconds=backoff(times))
        return Verdict(step="fail", call_state="unknown", failure=failures.OUTCOME_UNKNOWN)
    if error.kind is ErrorKind.ASSET_UNREACHABLE and not times:
        return Verdict(step="again", delay_seconds=backoff(times))
    if error.kind is ErrorKind.INVALID_REQUEST and error.model_specific:
        return Verdict(step="next", failure=failures.OF_KIND[error.kind])
    if error.kind in FINAL_AT_PROVIDER:
        state: Literal["done", "refused"] = "done" if error.kind is ErrorKind.EMPTY_RESULT else "refused"
        return Verdict(step="fail", call_state=state, failure=failures.OF_KIND[error.kind])
    return Verdict(step="next", delay_seconds=error.retry_after or 0.0)


def of_last_route(spoiled: Sequence[Spoiled], *, rounds: int, retry_after: float) -> Wait | None:
    """After every open route refused: which of them to wait for and how long, or None to give up.

    `rounds` counts the task's earlier waits. Busy routes are waited for until the queue deadline; where none is even
    reachable the waiting is bounded.
    """
    latest = {call.route_id: call.kind for call in spoiled}
    passing = frozenset(route for route, kind in latest.items() if kind in WORTH_WAITING)
    is_reachable = any(latest[route] != ErrorKind.TRANSIENT for route in passing)
    if not passing or (not is_reachable and unreachable_times(spoiled) > UNREACHABLE_ROUNDS * len(passing)):
        return None
    asked = min(retry_after, LONGEST_RETRY_AFTER_SECONDS)
    return Wait(routes=passing, delay_seconds=max(asked, backoff(rounds)))


def unreachable_times(spoiled: Sequence[Spoiled]) -> int:
    """How many calls in a row, up to the last, reached nobody."""
    times = 0
    for call in reversed(spoiled):
        if call.kind != ErrorKind.TRANSIENT:
            break
        times += 1
    return times


def backoff(times: int) -> float:
    """Seconds: 1, 2, 4 … 60."""
    return min(2.0 ** min(times, 10), LONGEST_WAIT_SECONDS)


def after_poll_fault(error: UpstreamError, *, faults: int) -> float:
    """Seconds until a poll that met a fault is tried again."""
    return max(backoff(faults), min(error.retry_after or 0.0, LONGEST_WAIT_SECONDS))
