"""Errors that do not reach any caller: each is logged, and counted for `/metrics`."""

import logging
import threading
from collections import Counter
from collections.abc import Mapping

PLACES: tuple[str, ...] = (
    "callbacks.sender",
    "catalog.health.adapter_probe",
    "catalog.health.probe",
    "catalog.runnable.bounds",
    "common.concurrency.wakeups",
    "common.database.apart",
    "desk.channel_probe",
    "relay.books.end_together",
    "relay.books.reserve_together",
    "relay.books.usage",
    "relay.calls.channel_refusal",
    "relay.calls.channel_success",
    "relay.calls.stream_options",
    "tasks.intake.submission",
    "tasks.intake.submission.held_up",
    "worker.copy",
    "worker.execution",
    "worker.fail",
    "worker.heal.lookup",
    "worker.health",
    "worker.job",
    "worker.lane",
    "worker.paid_call",
    "worker.poll",
    "worker.poll_connection",
)
"""Every place that calls `note`, in the order of the alphabet: `/metrics` shows each from the start, as 0."""
LONGEST = 100  # characters of a place

logger = logging.getLogger(__name__)
_lock = threading.Lock()
_counts: Counter[str] = Counter()


def note(where: str) -> None:
    """Log the exception that is being handled, and count it. `where` names what went wrong, in dotted lower case, such
    as `relay.books.release`, and stands in `PLACES`; it becomes a label in `/metrics`, so it holds nothing of a
    request."""
    logger.exception("swallowed in %s", where)
    with _lock:
        _counts[where] += 1


def taken() -> dict[str, int]:
    """The counts of this process since the last call."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    return counts


def put_back(counts: Mapping[str, int]) -> None:
    """Add counts that were taken and could not be stored to those of this process."""
    with _lock:
        _counts.update(counts)
