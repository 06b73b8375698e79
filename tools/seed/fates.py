"""Table of the ways in which a task may end, with the answers to its paid calls; each task is dealt one. Pure."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.base import ErrorKind
from tasks import failures
from tasks.failures import Failure

AMBIGUOUS = {"kind": "ambiguous", "code": None, "http_status": None, "message": "the answer was lost: read timed out"}
SUCCEEDED: Mapping[str, Any] = {"kind": "succeeded", "delivered": 1, "flags": []}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """Outcome of one attempt's paid call. `way` is the number of the task's route, from 0; `is_paid`: the provider
    billed it; `is_answered`: there was an answer; `is_late`: it came after the task's end."""

    state: str = "done"
    outcome: Mapping[str, Any]
    way: int = 0
    is_paid: bool = False
    is_answered: bool = True
    is_late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """A way to end. `weight` is its frequency, `modality` the only one that it applies to, `ways` the number of routes
    that it needs. `resolved` is what an operator later did about a lost answer; `differs` how the provider's report
    differed."""

    name: str
    weight: float
    status: str
    legs: Sequence[Leg] = ()
    failure: Failure | None = None
    modality: str | None = None
    ways: int = 1
    resolved: str = ""
    differs: str = ""
    is_out_of_time: bool = False


def refused(kind: ErrorKind, http_status: int, code: str, message: str, *, way: int = 0) -> Leg:
    outcome = {"kind": kind.value, "code": code, "http_status": http_status, "message": message}
    return Leg(state="refused", outcome=outcome, way=way)


def spoiled(kind: ErrorKind, code: str, message: str) -> Leg:
    """Returns the fate of an accepted job that its provider ended without a result."""
    return Leg(outcome={"kind": kind.value, "code": code, "http_status": 200, "message": message})


DONE = Leg(outcome=SUCCEEDED, is_paid=True)
DONE_ELSEWHERE = Leg(outcome=SUCCEEDED, is_paid=True, way=1)
BUSY = refused(ErrorKind.OVERLOADED, 503, "overloaded", "The engine is currently overloaded, try again later.")
LIMITED = refused(ErrorKind.RATE_LIMITED, 429, "rate_limit_exceeded", "Rate limit reached.")
DOWN = refused(ErrorKind.TRANSIENT, 502, "bad_gateway", "Bad gateway.")
DOWN_ELSEWHERE = refused(ErrorKind.TRANSIENT, 502, "bad_gateway", "Bad gateway.", way=1)
MODERATED = refused(
    ErrorKind.CONTENT_POLICY, 400, "moderation_blocked", "Your request was rejected by the safety system."
)
INVALID = refused(ErrorKind.INVALID_REQUEST, 400, "invalid_value", "The prompt holds a character that is not allowed.")
UNREACHABLE = refused(ErrorKind.ASSET_UNREACHABLE, 400, "InvalidParameter", "The input image could not be downloaded.")
MODERATED_FILM = spoiled(
    ErrorKind.CONTENT_POLICY, "OutputVideoSensitiveContentDetected", "The video may contain sensitive information."
)
BROKEN_FILM = spoiled(ErrorKind.PROVIDER_FAILED, "InternalServiceError", "The service met an unexpected error.")
EMPTY = spoiled(ErrorKind.EMPTY_RESULT, "", "The answer holds no picture.")
UNCOPIED = Leg(
    outcome={"kind": "copy_failed", "message": "the file could not be fetched: connection reset"}, is_paid=True
)
LOST_ANSWER = Leg(state="unknown", outcome=AMBIGUOUS, is_answered=False)
WRITTEN_OFF = Leg(state="lost", outcome=AMBIGUOUS, is_answered=False, is_paid=True)
ATTACHED = Leg(outcome=AMBIGUOUS, is_answered=False)
TOO_LATE = Leg(state="lost", outcome={"kind": "late"}, is_paid=True, is_late=True)

KINDS = failures.OF_KIND
FILM = "video"
COUNT_DIFFERS = "count: billed 1, reported 2"
LENGTH_DIFFERS = "usage: billed 5 s, reported 6.1 s"
UNKNOWN = "outcome unknown"
FATES: tuple[Fate, ...] = (
    Fate(name="succeeded", weight=830, status="succeeded", legs=[DONE]),
    Fate(name="succeeded elsewhere", weight=38, status="succeeded", legs=[BUSY, DONE_ELSEWHERE], ways=2),
    Fate(name="succeeded after a limit", weight=20, status="succeeded", legs=[LIMITED, DONE]),
    Fate(name="more pictures", weight=5, status="succeeded", legs=[DONE], modality="image", differs=COUNT_DIFFERS),
    Fate(name="a longer film", weight=5, status="succeeded", legs=[DONE], modality=FILM, differs=LENGTH_DIFFERS),
    Fate(name="moderated", weight=22, status="failed", legs=[MODERATED], failure=KINDS[ErrorKind.CONTENT_POLICY]),
    Fate(
        name="moderated film",
        weight=7,
        status="failed",
        legs=[MODERATED_FILM],
        failure=KINDS[ErrorKind.CONTENT_POLICY],
        modality=FILM,
    ),
    Fate(name="refused", weight=8, status="failed", legs=[INVALID], failure=KINDS[ErrorKind.INVALID_REQUEST]),
    Fate(
        name="unreachable input",
        weight=4,
        status="failed",
        legs=[UNREACHABLE],
        failure=KINDS[ErrorKind.ASSET_UNREACHABLE],
        modality=FILM,
    ),
    Fate(
        name="failed at the provider",
        weight=14,
        status="failed",
        legs=[BROKEN_FILM],
        failure=KINDS[ErrorKind.PROVIDER_FAILED],
        modality=FILM,
    ),
    Fate(name="nothing came", weight=4, status="failed", legs=[EMPTY], failure=failures.NO_USABLE_RESULT),
    Fate(
        name="all channels down",
        weight=5,
        status="failed",
        legs=[DOWN, DOWN_ELSEWHERE],
        failure=failures.UNAVAILABLE,
        ways=2,
    ),
    Fate(name="not copied", weight=2, status="failed", legs=[UNCOPIED], failure=failures.STORAGE_UNAVAILABLE),
    Fate(name=UNKNOWN, weight=3, status="failed", legs=[LOST_ANSWER], failure=failures.OUTCOME_UNKNOWN),
    Fate(
        name="unknown, written off",
        weight=2,
        status="failed",
        legs=[WRITTEN_OFF],
        failure=failures.OUTCOME_UNKNOWN,
        resolved="lost",
    ),
    Fate(
        name="unknown, retried",
        weight=2,
        status="failed",
        legs=[LOST_ANSWER],
        failure=failures.OUTCOME_UNKNOWN,
        resolved="retried",
    ),
    Fate(
        name="unknown, attached",
        weight=2,
        status="failed",
        legs=[ATTACHED],
        failure=failures.OUTCOME_UNKNOWN,
        modality=FILM,
        resolved="attached",
    ),
    Fate(
        name="out of time",
        weight=6,
        status="timeout",
        legs=[TOO_LATE],
        failure=failures.TIMED_OUT,
        modality=FILM,
        is_out_of_time=True,
    ),
    Fate(name="never started", weight=2, status="timeout", failure=failures.TIMED_OUT, is_out_of_time=True),
    Fate(name="canceled", weight=24, status="canceled"),
)
BY_NAME = {fate.name: fate for fate in FATES}


def deal(rng: random.Random, modality: str, ways: int) -> Fate:
    """Chooses the fate of a task with this modality and number of routes."""
    possible = [fate for fate in FATES if fits(fate, modality, ways)]
    return rng.choices(possible, [fate.weight for fate in possible])[0]


def fits(fate: Fate, modality: str, ways: int) -> bool:
    return fate.modality in (None, modality) and fate.ways <= ways
