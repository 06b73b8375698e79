"""The long-lived threads of a web process: Django's requests and the asynchronous side's look-ups share them."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import close_old_connections

Result = TypeVar("Result")

THREADS = 8
executor = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="django")


def returning_connection(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run it as Django runs a request: with a usable connection, handed back at the end where there is a pool."""
    close_old_connections()
    try:
        return function(*arguments)
    finally:
        close_old_connections()


async def call(function: Callable[..., Result], *arguments: Any) -> Result:
    """Run blocking work with database access on one of the threads."""
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        executor, context.run, returning_connection, function, *arguments
    )
