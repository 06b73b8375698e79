"""Errors that do not reach any caller: each is logged, and counted for `/metrics`."""

import logging
import threading
from collections import Counter

logger = logging.getLogger(__name__)
_lock = threading.Lock()
_counts: Counter[str] = Counter()


def note(where: str) -> None:
    """Log the exception that is being handled, and count it. `where` names what went wrong, in dotted lower case, such
    as `relay.books.release`; it becomes a label in `/metrics`, so it holds nothing of a request."""
    logger.exception("swallowed in %s", where)
    with _lock:
        _counts[where] += 1


def taken() -> dict[str, int]:
    """The counts of this process since the last call."""
    with _lock:
        counts = dict(_counts)
        _counts.clear()
    return counts
