"""Copies a task that the service has made, by the thousand, within the database. PostgreSQL only.

Rows are copied with whatever columns they have; only ids, owners and unique values change. So this works with every
version of the schema, and the books stay right.
"""

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import psycopg

from bench import seed

OWNERS = 100
"""Number of accounts that get copies in turn; the seed's accounts, keys and secrets have equal ids."""
OWNER = "1 + n % {owners}"
STRANGER = "1000000 + n"
"""Id of a stranger's account, key and secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedTable:
    """A table to copy rows in: `key` is the column with the task's id, `changes` maps columns to SQL expressions over n
    and {owners}; with `is_numbered` the database assigns new ids."""

    name: str
    key: str
    changes: Mapping[str, str]
    is_numbered: bool = False


TASK = CopiedTable(name="tasks_task", key="id", changes=dict.fromkeys(("key_id", "secret_id", "account_id"), OWNER))
PAYLOAD = CopiedTable(name="tasks_taskpayload", key="task_id", changes={})
HOLD = CopiedTable(name="billing_hold", key="reference", changes=dict.fromkeys(("key_id", "account_id"), OWNER))
EVENT = CopiedTable(name="tasks_taskevent", key="task_id", changes={"key_id": OWNER}, is_numbered=True)
CALL = CopiedTable(
    name="tasks_call",
    key="task_id",
    changes={"handle": "jsonb_set(t.handle, '{id}', to_jsonb('seeded-' || n))"},
    is_numbered=True,
)
ACCOUNT = CopiedTable(name="accounts_account", key="id", changes={})
QUEUED = (TASK, PAYLOAD, HOLD, EVENT)
FOLLOWED = (*QUEUED, CALL)


def copied(url: str, task_id: str, count: int, tables: Iterable[CopiedTable] = QUEUED, *, owners: int = OWNERS) -> None:
    """Copies the rows of a live task `count` times with its reservation, and analyzes the tables."""
    new_id = f"substr('{task_id}', 1, 15) || lpad(n::text, 16, '0')"
    with psycopg.connect(url) as connection:
        for table in tables:
            copy_rows(connection, table, task_id, new_id=new_id, series=f"generate_series(1, {count})", owners=owners)
        connection.execute(
            "UPDATE accounts_account a SET held_micros = held_micros + s.micros FROM (SELECT account_id, "
            "sum(amount_micros) AS micros FROM billing_hold WHERE reference LIKE "
            f"substr('{task_id}', 1, 15) || '0000%' GROUP BY 1) s WHERE s.account_id = a.id".encode()
        )
        if "live_at_most" in columns(connection, ACCOUNT):
            connection.execute("UPDATE accounts_account SET live_at_most = NULL")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


def columns(connection: psycopg.Connection, table: CopiedTable) -> list[str]:
    rows = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s "
        "ORDER BY ordinal_position",
        [table.name],
    )
    return [name for (name,) in rows if not (table.is_numbered and name == "id")]


def copy_rows(
    connection: psycopg.Connection, table: CopiedTable, task_id: str, *, new_id: str, series: str, owners: int = 1
) -> None:
    """Copies all of the task's rows in this table for each n of the series."""
    names = columns(connection, table)
    owned = {name: change.replace("{owners}", str(owners)) for name, change in table.changes.items()}
    changes = {**owned, table.key: new_id}
    picked = ", ".join(f"{changes[name]}" if name in changes else f't."{name}"' for name in names)
    listed = ", ".join(f'"{name}"' for name in names)
    order = "ORDER BY n, t.id" if table.is_numbered else ""
    connection.execute(
        f"INSERT INTO {table.name} ({listed}) SELECT {picked} FROM {series} AS n CROSS JOIN {table.name} t "
        f"WHERE t.{table.key} = '{task_id}' {order}".encode()
    )


STRANGERS = (
    CopiedTable(name="accounts_account", key="id", changes={"name": "'stranger-' || n", "balance_micros": "0"}),
    CopiedTable(name="accounts_apikey", key="account_id", changes={"id": STRANGER}),
    CopiedTable(
        name="accounts_keysecret", key="key_id", changes={"id": STRANGER, "digest": "md5(n::text) || md5('of ' || n)"}
    ),
)


def add_strangers(url: str, count: int) -> None:
    """Adds accounts without money, each with a key whose secret nobody knows."""
    with psycopg.connect(url) as connection:
        for table in STRANGERS:
            copy_rows(connection, table, "1", new_id=STRANGER, series=f"generate_series(1, {count})")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")


ENDED = (
    CopiedTable(name="tasks_taskevent", key="task_id", changes={}, is_numbered=True),
    CopiedTable(name="tasks_task", key="id", changes={"callback_url": "NULL"}),
    CopiedTable(name="billing_ledgerentry", key="reference", changes={}, is_numbered=True),
    CopiedTable(name="billing_hold", key="reference", changes={}),
    CopiedTable(name="tasks_taskpayload", key="task_id", changes={"params": "NULL", "pruned_at": "now()"}),
)
INDEXES = """
SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = %s
    AND indexname NOT IN (SELECT conname FROM pg_constraint)
"""
SIDE_BY_SIDE = 2
DIGITS = 15
"""Digits of a seeded task's number, which ends its id."""


def grow(url: str, first: int, end: int) -> None:
    """Adds the ended tasks with these numbers to the seed's, all for the first account, with pruned params as in old
    tasks."""
    prefix = seeded_prefix(url)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        list(threads.map(partial(grow_table, url, prefix, first, end), ENDED))
    with psycopg.connect(url) as connection:
        charged = seed.PRICE * (end - first)
        connection.execute(
            f"UPDATE accounts_account SET balance_micros = balance_micros - {charged} WHERE id = 1".encode()
        )


def seeded_prefix(url: str) -> str:
    """Returns the prefix of the seeded tasks' ids; their numbers follow it."""
    with psycopg.connect(url) as connection:
        ((first,),) = connection.execute("SELECT min(id) FROM tasks_task").fetchall()
    return str(first)[:-DIGITS]


def grow_table(url: str, prefix: str, first: int, end: int, table: CopiedTable) -> None:
    """Copies rows without checking foreign keys, and rebuilds the indexes at the end, which is faster."""
    zeroth, new_id = prefix + "0" * DIGITS, f"'{prefix}' || lpad(n::text, {DIGITS}, '0')"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET session_replication_role = replica")
        indexes = connection.execute(INDEXES, [table.name]).fetchall()
        for name, _ in indexes:
            connection.execute(f'DROP INDEX "{name}"'.encode())
        series = f"generate_series({first}, {end - 1})"
        copy_rows(connection, table, zeroth, new_id=new_id, series=series)
        for _, definition in indexes:
            connection.execute(definition.encode())
        connection.execute(f"VACUUM ANALYZE {table.name}".encode())
