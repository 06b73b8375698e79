"""One-line JSON logs with the ids of request, task and attempt, and without secrets.

The filter cleans the record itself, so that no later handler sees a secret. The access log has a line for each request
that the front has answered, but never its query, which may be signed.
"""

import asyncio
import json
import logging
import random
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from common import moments, redaction

STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "request", "response", "color_message"}
# Said of a record that holds no secret any more, and of one whose message is lines of JSON already.
STANDARD |= {"redacted", "are_lines"}
SANE_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
USUAL_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
LONGEST_PATH = 500
access = logging.getLogger("darkroom.access")

_encode = json.JSONEncoder(default=str).encode
_formatter = logging.Formatter()
_bound: ContextVar[MappingProxyType[str, Any]] = ContextVar("bound", default=MappingProxyType({}))
_request_id: ContextVar[str] = ContextVar("request_id", default="")
_access_lines: list[str] = []


def adopt_request_id(offered: str) -> str:
    """Make the id that a client offers, where it is sane, else 128 random bits, the id of this context and of the
    threads it starts. They are no secret: asking the system for them would hand the interpreter to another thread."""
    request_id = offered if SANE_REQUEST_ID.fullmatch(offered) else f"{random.getrandbits(128):032x}"
    _request_id.set(request_id)
    return request_id


def request_id() -> str:
    """The id of the current request; empty outside of one."""
    return _request_id.get()


@contextmanager
def bind(**names: Any) -> Iterator[None]:
    """Say which task and attempt the lines of the following block belong to."""
    token = _bound.set(MappingProxyType({**_bound.get(), **names}))
    try:
        yield
    finally:
        _bound.reset(token)


class Redaction(logging.Filter):
    """Takes secrets out of message, arguments, extra fields and traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "redacted", False):
            return True
        record.msg, record.args = redaction.clean(message_of(record)), None
        if record.exc_info:
            record.exc_text = redaction.clean(_formatter.formatException(record.exc_info))
        for name in vars(record).keys() - STANDARD:
            setattr(record, name, redaction.cleaned_field(name, getattr(record, name)))
        record.redacted = True
        return True


def message_of(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except (TypeError, ValueError, KeyError):
        return f"{record.msg} {record.args!r}"


class ServerFaults(logging.Filter):
    """Keeps only faults of Django's request lines: the access log has the rest, and no client causes a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "django.request":
            return record.levelno >= logging.ERROR and bool(record.exc_info)
        if record.name.startswith("django.security"):
            record.exc_info, record.exc_text = None, None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        return True


class JsonLines(logging.Formatter):
    """A record as one line of JSON; extra fields beside the standard ones."""

    def format(self, record: logging.LogRecord) -> str:
        if getattr(record, "are_lines", False):
            return str(record.msg)
        fields = vars(record)
        said = {name: fields[name] for name in sorted(fields.keys() - STANDARD)}
        if record.exc_info or record.exc_text:
            said["traceback"] = record.exc_text or self.formatException(record.exc_info or (None, None, None))
        return line(record.created, record.levelname, record.name, message_of(record), said)


def line(created: float, level: str, logger: str, message: str, said: Mapping[str, Any]) -> str:
    """One line, of this context. Nothing in it is looked through for secrets."""
    whole = {
        "time": moments.iso(datetime.fromtimestamp(created, UTC)),
        "level": level,
        "logger": logger,
        "message": message,
        "request_id": _request_id.get() or None,
        **_bound.get(),
        **said,
    }
    return _encode({name: value for name, value in whole.items() if value is not None})


def write_access(method: str, path: str, status: int, milliseconds: float) -> None:
    """Write the line of a request. Only what the client wrote is looked through for secrets; nothing says where in our
    code we are.

    The lines of one turn of the event loop are written together: each time the interpreter may go to another thread.
    """
    if not access.isEnabledFor(logging.INFO):
        return
    path = _cleaned_path(path[:LONGEST_PATH], redaction.secrets_told)
    if method not in USUAL_METHODS:
        method = redaction.clean(method)
    said = {"method": method, "milliseconds": milliseconds, "path": path, "status": status}
    if not _access_lines:
        asyncio.get_running_loop().call_soon(_write_access_lines)
    _access_lines.append(line(time.time(), "INFO", access.name, f"{method} {path} {status}", said))


@lru_cache(maxsize=1_000)
def _cleaned_path(path: str, _told: int) -> str:
    """The path without secrets, as far as `_told` of them are known: most requests have the path of others."""
    return redaction.clean(path)


def _write_access_lines() -> None:
    said, extra = "\n".join(_access_lines), {"redacted": True, "are_lines": True}
    _access_lines.clear()
    access.handle(access.makeRecord(access.name, logging.INFO, "", 0, said, (), None, extra=extra))


def configuration() -> dict[str, Any]:
    """The `logging.config` dictionary of every process: web server, worker, commands."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"faults": {"()": ServerFaults}, "redaction": {"()": Redaction}},
        "formatters": {"json": {"()": JsonLines}},
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "filters": ["faults", "redaction"], "formatter": "json"}
        },
        "root": {"handlers": ["stderr"], "level": "INFO"},
        "loggers": {
            name: {"handlers": [], "level": "INFO", "propagate": True}
            for name in ("django", "django.server", "gunicorn.error", "gunicorn.access")
        },
    }
