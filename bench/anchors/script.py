"""Runs pgbench's script from Python: the same statements, one at a time on a bare connection."""

import random
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from bench.client import percentile
from bench.model import Sample

FOLDER = Path(__file__).parent
STEP = FOLDER / "step.sql"
BODY = '{"prompt": "%s", "n": 1, "image_size": "1K", "aspect_ratio": "1:1"}' % ("p" * 900)
"""Request data that a task stores: about 976 bytes of JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """One line of the script; `keeps` stores its row in variables."""

    text: str
    keeps: bool


def statements(script: str) -> list[Statement]:
    """Parses a pgbench script with one statement in each line."""
    lines = [line for line in script.splitlines() if line and not line.startswith(("--", "\\"))]
    return [Statement(text=line.removesuffix("\\gset").strip(" ;"), keeps=line.endswith("\\gset")) for line in lines]


def for_psycopg(text: str) -> str:
    return re.sub(r"(?<!:):(\w+)", r"%(\1)s", text)


def for_sqlite(text: str) -> str:
    """Translates a statement: SQLite knows `:name` itself, and locks with IMMEDIATE."""
    return text.replace(" FOR UPDATE", "").replace("BEGIN", "BEGIN IMMEDIATE")


Execute = Callable[[str, Mapping[str, Any]], Any]


def submit(execute: Execute, prepared: list[Statement], variables: dict[str, Any]) -> None:
    """Runs one submission."""
    for statement in prepared:
        cursor = execute(statement.text, variables)
        if statement.keeps:
            names = [column[0] for column in cursor.description]
            variables |= dict(zip(names, cursor.fetchone(), strict=True))
        elif cursor.description:
            cursor.fetchall()


def repeat(execute: Execute, prepared: list[Statement], *, accounts: int, seconds: float) -> Sample:
    """Runs submissions one after another."""
    latencies = []
    started = time.perf_counter()
    while (before := time.perf_counter()) - started < seconds:
        variables = {"account": random.randint(1, accounts), "unique": random.getrandbits(52), "body": BODY}
        submit(execute, prepared, variables)
        latencies.append(time.perf_counter() - before)
    elapsed = time.perf_counter() - started
    latencies.sort()
    return Sample(
        figures={
            "rate": len(latencies) / elapsed,
            "p50_ms": percentile(latencies, 50) * 1000,
            "p99_ms": percentile(latencies, 99) * 1000,
        }
    )


def bare_psycopg(url: str, *, accounts: int, seconds: float) -> Sample:
    prepared = [Statement(text=for_psycopg(s.text), keeps=s.keeps) for s in statements(STEP.read_text())]
    with psycopg.connect(url, autocommit=True) as connection:
        return repeat(
            lambda text, variables: connection.execute(text.encode(), variables, prepare=True),
            prepared,
            accounts=accounts,
            seconds=seconds,
        )


def bare_sqlite(file: Path, *, accounts: int, seconds: float) -> Sample:
    prepared = [Statement(text=for_sqlite(s.text), keeps=s.keeps) for s in statements(STEP.read_text())]
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;")
        return repeat(connection.execute, prepared, accounts=accounts, seconds=seconds)
    finally:
        connection.close()
