"""Ids of tasks, and of relayed calls: a prefix and 26 lower-case Crockford base32 characters, ordered by time."""

import secrets
import threading
import time
from functools import partial

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
PREFIX = "task_"
LENGTH = 26
PAIRS = [first + second for first in ALPHABET for second in ALPHABET]
SHIFTS = range(5 * (LENGTH - 2), -1, -10)  # of two characters each
_lock = threading.Lock()
_latest = 0


def encode(value: int) -> str:
    """128 bits as 26 base32 characters, most significant first."""
    return "".join([PAIRS[(value >> shift) & 1023] for shift in SHIFTS])


def new_id(prefix: str) -> str:
    """48 bits of milliseconds and 80 random bits; above every earlier id of this process, whatever its clock does."""
    global _latest
    with _lock:
        timely = time.time_ns() // 1_000_000 << 80 | secrets.randbits(80)
        _latest = timely if timely > _latest else _latest + 1 + secrets.randbits(64)
        return prefix + encode(_latest)


new_task_id = partial(new_id, PREFIX)


def task_id_floor(unix_seconds: float) -> str:
    """The smallest id a task created at that moment can have: a range border for lists."""
    milliseconds = min(max(int(unix_seconds * 1000), 0), (1 << 48) - 1)
    return PREFIX + encode(milliseconds << 80)


def is_task_id(text: str) -> bool:
    """Whether the text has the form of a task id."""
    body = text.removeprefix(PREFIX)
    return len(text) == len(PREFIX) + LENGTH and len(body) == LENGTH and all(c in ALPHABET for c in body)
