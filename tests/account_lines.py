"""What is gathered, and what waits for an account that somebody else holds."""

import threading
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import psycopg

from tests.databases import database_url
from tools.children import PATIENCE


@contextmanager
def gathered(thread: Executor) -> Iterator[None]:
    """What is added meanwhile is one group of the gathering that works on this thread."""
    entered, left = threading.Event(), threading.Event()

    def occupy() -> None:
        entered.set()
        left.wait(PATIENCE)

    thread.submit(occupy)
    entered.wait(PATIENCE)
    try:
        yield
    finally:
        left.set()


@contextmanager
def held_account(account_id: int) -> Iterator[None]:
    """Somebody else has locked the account (PostgreSQL)."""
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT 1 FROM accounts_account WHERE id = %s FOR UPDATE", [account_id])
        yield
        other.rollback()
