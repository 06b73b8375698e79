"""Whether this web process is stopping; waits and streams ask, so that they never hold up SIGTERM."""

from collections.abc import Callable


def _always() -> bool:
    return True


_is_alive: Callable[[], bool] = _always


def watch(is_alive: Callable[[], bool]) -> None:
    """The server's own word on it, given once when the process has started."""
    global _is_alive
    _is_alive = is_alive


def is_stopping() -> bool:
    return not _is_alive()
