"""Keys of new files: random, and spread over folders. A process fills one folder after the other, so that it makes few,
and that one flush of a folder serves many files."""

import secrets
import threading
from typing import Literal, get_args

Folder = Literal["results", "inputs"]
FOLDERS: tuple[Folder, ...] = get_args(Folder)

FILES = 256  # for one folder, before the next


class Keys:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beginning, self._left = "", 0

    def new(self, folder: Folder) -> str:
        """Such as results/3f/a0/3fa0…, 32 hexadecimal digits in all, 28 of them random for each file."""
        with self._lock:
            if not self._left:
                self._beginning, self._left = secrets.token_hex(2), FILES
            self._left -= 1
            name = self._beginning + secrets.token_hex(14)
        return f"{folder}/{name[:2]}/{name[2:4]}/{name}"


new = Keys().new
