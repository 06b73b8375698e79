"""Connections of this process that are opened as a web process opens its own, for as long as a test needs them."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

from common.database import time_limits
from common.database.time_limits import TimeLimits
from common.sqlite.connections import kept


def close_connections() -> None:
    """So that the next ones are opened anew; no other thread has one."""
    connection.close()
    kept.close()
    if connection.vendor == "postgresql":
        connection.close_pool()


@contextmanager
def limited(**seconds: float) -> Iterator[None]:
    """These limits for the connections that are opened during the block, and no others."""
    none = {field.name: 3600.0 for field in dataclasses.fields(TimeLimits)}
    before, time_limits.of_process = time_limits.of_process, TimeLimits(**none | seconds)
    close_connections()
    try:
        yield
    finally:
        time_limits.of_process = before
        close_connections()
