"""A process that would let everybody read and write what it makes."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def careless() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def others_may(path: Path) -> bool:
    """Whether anybody but the owner may do anything with it."""
    return bool(path.stat().st_mode & 0o077)


def open_to_others(root: Path) -> list[str]:
    """What below a folder anybody but its owner may do anything with."""
    return [str(path.relative_to(root)) for path in sorted(root.rglob("*")) if others_may(path)]
