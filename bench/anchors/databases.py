"""Creates the anchors' preloaded tables in a PostgreSQL database or SQLite file of their own."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.anchors.script import FOLDER
from bench.surroundings import TASKS, Bench

SCHEMA = (FOLDER / "schema.sql").read_text()
PRELOAD = (FOLDER / "preload.sql").read_text()
SERIAL = (
    "ALTER TABLE anchor_event ALTER id ADD GENERATED ALWAYS AS IDENTITY; ALTER TABLE anchor_event ADD PRIMARY KEY (id);"
)


@contextmanager
def on_postgresql(bench: Bench) -> Iterator[str]:
    """Yields the URL of a new database. Raises Missing."""
    with bench.copy("anchor", fill) as url:
        yield url


def fill(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute((SCHEMA + SERIAL).encode())
        connection.execute(f"CREATE TEMPORARY TABLE numbers AS SELECT n FROM generate_series(1, {TASKS}) AS n".encode())
        connection.execute(PRELOAD.encode())
        connection.execute("VACUUM ANALYZE")


def on_sqlite(file: Path) -> None:
    """Creates the tables in a new file."""
    with sqlite3.connect(file) as connection:
        connection.executescript(SCHEMA.replace("id bigint NOT NULL, task_id", "id integer PRIMARY KEY, task_id"))
        connection.executescript(
            f"CREATE TEMPORARY TABLE numbers AS WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s "
            f"WHERE n < {TASKS}) SELECT n FROM s;"
        )
        connection.executescript(PRELOAD + "ANALYZE;")
    connection.close()
