"""The access log: a line for each request that the front has answered, but never its query, which may be signed."""

import logging

from common import redaction

access = logging.getLogger("darkroom.access")
USUAL_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
LONGEST_PATH = 500


def write(method: str, path: str, status: int, milliseconds: float) -> None:
    """Only what the client wrote is looked through for secrets, and once; nothing says where in our code we are."""
    path = redaction.clean(path[:LONGEST_PATH])
    if method not in USUAL_METHODS:
        method = redaction.clean(method)
    seen = {"method": method, "path": path, "status": status, "milliseconds": milliseconds, "redacted": True}
    if access.isEnabledFor(logging.INFO):
        said = f"{method} {path} {status}"
        access.handle(access.makeRecord(access.name, logging.INFO, "", 0, said, (), None, extra=seen))
