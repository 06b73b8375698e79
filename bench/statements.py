"""Counts the statements that a private PostgreSQL server receives, by application name, from its log."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.model import Missing
from bench.postgres import Databases

LINE = re.compile(r"^(\w*)\|LOG:  (?:statement|execute [^:]*): (\w+)", re.MULTILINE)
OF_TRANSACTIONS = {"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE"}
LOUD = {"log_statement": "'all'", "log_line_prefix": "'%a|'"}


def log_of(databases: Databases) -> Path:
    """Returns the server's log. Raises Missing if the server is not ours."""
    if databases.log is None:
        raise Missing("a PostgreSQL server of our own")
    return databases.log


def change(url: str, settings: dict[str, str]) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for name, value in settings.items():
            change = f"SET {name} = {value}" if value else f"RESET {name}"
            connection.execute(f"ALTER SYSTEM {change}".encode())
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("SELECT pg_sleep(0.2)")  # every session applies it with its next statement


def count(text: str) -> Counter[str]:
    """Counts each application's statements, except those that only begin and end transactions."""
    return Counter(name for name, word in LINE.findall(text) if word.upper() not in OF_TRANSACTIONS)


@contextmanager
def counted(databases: Databases) -> Iterator[Counter[str]]:
    """Counts what arrives during the block; filled at its end. Raises Missing."""
    log, found = log_of(databases), Counter[str]()
    change(databases.url, LOUD)
    begin = log.stat().st_size
    try:
        yield found
    finally:
        with log.open("rb") as file:
            file.seek(begin)
            text = file.read().decode(errors="replace")
        change(databases.url, dict.fromkeys(LOUD, ""))
    found.update(count(text))
