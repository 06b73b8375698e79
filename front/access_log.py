"""The access log: a line for each request that the front has answered, but never its query, which may be signed."""

import asyncio
import logging
import time
from functools import lru_cache

from common import logs, redaction

access = logging.getLogger("darkroom.access")
USUAL_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
LONGEST_PATH = 500

_lines: list[str] = []


def write(method: str, path: str, status: int, milliseconds: float) -> None:
    """Only what the client wrote is looked through for secrets; nothing says where in our code we are.

    The lines of one turn of the event loop are written together: each time the interpreter may go to another thread.
    """
    if not access.isEnabledFor(logging.INFO):
        return
    path = _cleaned(path[:LONGEST_PATH], redaction.secrets_told())
    if method not in USUAL_METHODS:
        method = redaction.clean(method)
    seen = {"method": method, "milliseconds": milliseconds, "path": path, "status": status}
    if not _lines:
        asyncio.get_running_loop().call_soon(_write_lines)
    _lines.append(logs.line(time.time(), "INFO", access.name, f"{method} {path} {status}", seen))


@lru_cache(maxsize=1_000)
def _cleaned(path: str, _told: int) -> str:
    """Without secrets, as far as so many of them have been told: most requests have the path of others."""
    return redaction.clean(path)


def _write_lines() -> None:
    said, extra = "\n".join(_lines), {"redacted": True, "are_lines": True}
    _lines.clear()
    access.handle(access.makeRecord(access.name, logging.INFO, "", 0, said, (), None, extra=extra))
