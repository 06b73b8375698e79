"""Files and folders that nobody but their owner may read, whatever the process's umask is."""

import os
import stat
from contextlib import suppress
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
OTHERS = 0o077


def opener(path: str, flags: int) -> int:
    """Open a file as `open` does, and create it so."""
    return os.open(path, flags, FILE)


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing; one that is there stays as it is. Raises OSError."""
    for folder in reversed([path, *path.parents]):
        if not folder.is_dir():
            folder.mkdir(FOLDER, exist_ok=True)


def tighten(path: Path) -> None:
    """Take from others what they may do with a file or folder of ours, if it is there."""
    with suppress(OSError):
        found = path.stat()
        if found.st_mode & OTHERS and found.st_uid == os.geteuid():
            path.chmod(stat.S_IMODE(found.st_mode) & FOLDER)
