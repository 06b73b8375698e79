"""The id of the current request, for logs and the response: the client's own where it is sane, else a new one."""

import random
import re
from contextvars import ContextVar

SANE = re.compile(r"[A-Za-z0-9._-]{1,128}")

_request_id: ContextVar[str] = ContextVar("request_id", default="")


def adopt(offered: str) -> str:
    """Make the offered id, or a new one where it is not sane, the id of this context and of the threads it starts."""
    request_id = offered if SANE.fullmatch(offered) else new()
    _request_id.set(request_id)
    return request_id


def new() -> str:
    """128 random bits, which are no secret: asking the system for them would hand the interpreter to another thread."""
    return f"{random.getrandbits(128):032x}"


def current() -> str:
    """Empty outside a request."""
    return _request_id.get()
