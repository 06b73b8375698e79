"""Whose a presented secret is, as this process has seen: for shares and counts alone. Nobody is let in by it."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The key and the account of a secret; neither changes while the secret exists."""

    key_id: int
    account_id: int


_lock = Lock()
_seen: OrderedDict[str, Holder] = OrderedDict()


def remember(digest: str, holder: Holder) -> None:
    """The secret of this digest has just opened; whoever has not been seen for longest makes room."""
    with _lock:
        _seen[digest] = holder
        _seen.move_to_end(digest)
        if len(_seen) > MOST:
            _seen.popitem(last=False)


def find(digest: str) -> Holder | None:
    """None for a secret that has not opened here yet, or is none."""
    return _seen.get(digest)


def forget() -> None:
    """As in a new process; ids repeat where tests roll back."""
    with _lock:
        _seen.clear()
