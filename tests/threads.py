"""Threads that tests start."""

import threading

from tools.children import PATIENCE


def joined(*threads: threading.Thread) -> None:
    """Wait for their end."""
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
