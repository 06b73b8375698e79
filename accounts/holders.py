"""Whose a presented secret is, as this process has seen: for shares and counts alone. Nobody is let in by it."""

from dataclasses import dataclass

from common.recent import Recent

MOST = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The key and the account of a secret; neither changes while the secret exists."""

    key_id: int
    account_id: int


_seen: Recent[str, Holder] = Recent(MOST)


def remember(digest: str, holder: Holder) -> None:
    """The secret of this digest has just opened; whoever has not been seen for longest makes room."""
    _seen.put(digest, holder)


def find(digest: str) -> Holder | None:
    """None for a secret that has not opened here yet, or is none."""
    return _seen.get(digest)


def forget() -> None:
    """As in a new process; ids repeat where tests roll back."""
    _seen.clear()
