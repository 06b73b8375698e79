"""Request rates per key, counted per web process in fixed windows of a minute."""

import threading
import time
from collections import Counter

from django.conf import settings

from common.errors import RateLimited

WINDOW_SECONDS = 60
_lock = threading.Lock()
_counts: Counter[tuple[str, int]] = Counter()
_window = 0


def limit_of(kind: str) -> int | None:
    """Requests a minute; None is no limit. Replays have twice that of submissions."""
    if kind == "replay":
        submissions = settings.RATE_LIMITS.get("submit")
        return None if submissions is None else 2 * submissions
    limit: int | None = settings.RATE_LIMITS.get(kind)
    return limit


def check(kind: str, key_id: int) -> None:
    """Count one `submit`, `replay`, `read` or `relay`. Raises RateLimited, with Retry-After and RateLimit headers."""
    limit = limit_of(kind)
    if limit is None:
        return
    used, left = _count(kind, key_id)
    if used > limit:
        rates = {"RateLimit-Limit": str(limit), "RateLimit-Remaining": "0", "RateLimit-Reset": str(left)}
        message = f"The API key made more than {limit} {kind} requests within a minute."
        raise RateLimited(message, headers={**rates, "Retry-After": str(left)})


def has_left(kind: str, key_id: int) -> bool:
    """Whether `check` would let one through now; nothing is counted."""
    limit = limit_of(kind)
    if limit is None:
        return True
    with _lock:
        is_current = _window == int(time.time()) // WINDOW_SECONDS
        return limit > (_counts[kind, key_id] if is_current else 0)


def _count(kind: str, key_id: int) -> tuple[int, int]:
    """How many requests this window has seen, this one included, and the seconds until it is over."""
    global _window
    with _lock:
        window, passed = divmod(int(time.time()), WINDOW_SECONDS)
        if window != _window:
            _counts.clear()
            _window = window
        _counts[kind, key_id] += 1
        return _counts[kind, key_id], WINDOW_SECONDS - passed
