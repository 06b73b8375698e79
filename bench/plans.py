"""Reads the plans of the service's real statements, which PostgreSQL logs (auto_explain).

A sequential scan of a big table is a failure. No statement is copied from the code, so none is forgotten.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

from bench.model import Missing
from bench.postgres import Databases, name_of

BIG = frozenset(
    {
        "tasks_task",
        "tasks_taskpayload",
        "tasks_taskevent",
        "tasks_call",
        "billing_hold",
        "billing_ledgerentry",
        "callbacks_delivery",
        "accounts_account",
        "accounts_apikey",
        "accounts_keysecret",
    }
)
"""Big tables. All others have one or a few rows: the catalog, the workers, the single rows of state."""

PLAN = re.compile(r"plan:\n(\t\{\n.*?\n\t\})", re.DOTALL)


LISTS = re.compile(r"'\[\{.*?\}\]'")


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Scan:
    """A sequential scan of a big table, with its statement."""

    table: str
    statement: str


def record(databases: Databases, url: str) -> None:
    """Logs the plan of each statement of new sessions in this database. Raises Missing."""
    if databases.log is None:
        raise Missing("a private PostgreSQL, whose log can be read")
    try:
        databases.execute("LOAD 'auto_explain'")
    except psycopg.Error as error:
        raise Missing("auto_explain") from error
    for setting in ("session_preload_libraries = 'auto_explain'", *SETTINGS):
        databases.execute(f"ALTER DATABASE {{}} SET {setting}", name_of(url))


SETTINGS = (
    "auto_explain.log_min_duration = 0",
    "auto_explain.log_format = 'json'",
    "auto_explain.log_nested_statements = on",
)


def read(log: str) -> Iterator[Mapping[str, Any]]:
    """Yields the plans in a server's log: `Query Text` and `Plan`."""
    for match in PLAN.finditer(log):
        yield json.loads(match[1], strict=False)


def nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes(part)


def scans(explained: Mapping[str, Any]) -> list[Scan]:
    """Yields the sequential scans of big tables in one plan."""
    statement = LISTS.sub("'[…]'", " ".join(explained["Query Text"].split()))
    return [
        Scan(table=node["Relation Name"], statement=statement)
        for node in nodes(explained["Plan"])
        if node["Node Type"] == "Seq Scan" and node["Relation Name"] in BIG
    ]
