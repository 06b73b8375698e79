"""Describes the schema of a migrated database as text, one line a fact, to compare with what is recorded in
`tests/data/schema/`.

`python -m tests.schema` migrates the database of DATABASE_URL and prints its description.
"""

import os
import re
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import django
from django.core.management import call_command
from django.db import connection

APPS = ("accounts", "billing", "callbacks", "catalog", "console", "desk", "tasks")
RECORDED = Path(__file__).parent / "data" / "schema"
OURS = f"^({'|'.join(APPS)})_"

SQLITE_TABLES = "SELECT tbl_name, type, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY tbl_name, type, name"

POSTGRESQL_FACTS = """
SELECT relname, fact FROM (
    SELECT attrelid AS oid, concat_ws(' ', 'column', attname, format_type(atttypid, atttypmod),
        CASE WHEN attnotnull THEN 'NOT NULL' END, 'DEFAULT ' || pg_get_expr(adbin, adrelid),
        CASE WHEN attidentity <> '' THEN 'IDENTITY ' || attidentity::text || ' of '
            || pg_get_serial_sequence(attrelid::regclass::text, attname) END) AS fact
    FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    WHERE attnum > 0 AND NOT attisdropped
    UNION ALL SELECT conrelid, concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid))
    FROM pg_constraint WHERE contype <> 'n'
    UNION ALL SELECT indrelid, pg_get_indexdef(indexrelid) FROM pg_index
    UNION ALL SELECT tgrelid, pg_get_triggerdef(oid) || ' enabled ' || tgenabled::text FROM pg_trigger
    WHERE NOT tgisinternal
    UNION ALL SELECT oid, 'storage ' || unnest(reloptions) FROM pg_class WHERE relkind = 'r'
    UNION ALL SELECT inhparent, 'parent of ' || inhrelid::regclass::text FROM pg_inherits
) facts JOIN pg_class USING (oid)
WHERE relkind IN ('r', 'p') AND relnamespace = current_schema()::regnamespace
"""
POSTGRESQL_FUNCTIONS = """
SELECT regexp_replace(pg_get_functiondef(oid), '\\s+', ' ', 'g') FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace
UNION ALL SELECT 'view ' || relname FROM pg_class
WHERE relkind IN ('v', 'm') AND relnamespace = current_schema()::regnamespace
"""

BOOLEAN_CONDITION = re.compile(r'WHERE ("\w+") = 1$')
"""Django 6 writes so what earlier ones write as the column alone."""

ROWS = {
    "catalog_catalogversion": "SELECT id, version FROM catalog_catalogversion",
    "tasks_claimturn": "SELECT id, last_key FROM tasks_claimturn",
    "tasks_servicestate": "SELECT id, paused, message, retry_after_seconds, api_disabled, max_running "
    "FROM tasks_servicestate",
    "auth_group": "SELECT g.name, t.app_label, t.model, p.codename FROM auth_group g "
    "JOIN auth_group_permissions a ON a.group_id = g.id JOIN auth_permission p ON p.id = a.permission_id "
    "JOIN django_content_type t ON t.id = p.content_type_id",
}
"""What migrations write."""


def description() -> str:
    """Facts of our tables, and the rows that migrations write, in an order of their own."""
    facts = _postgresql() if connection.vendor == "postgresql" else _sqlite()
    by_table = groupby(sorted([*facts, *_rows()]), lambda fact: fact[0])
    return "\n".join(f"{table}\n" + "".join(f"  {fact}\n" for _, fact in found) for table, found in by_table)


def _fetch(statement: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall())


def _rows() -> Iterator[tuple[str, str]]:
    for table, statement in ROWS.items():
        for row in _fetch(statement):
            yield table, f"row {', '.join(str(int(x) if isinstance(x, bool) else x) for x in row)}"


def _postgresql() -> Iterator[tuple[str, str]]:
    for table, fact in _fetch(POSTGRESQL_FACTS):
        if re.match(OURS, str(table)):
            yield str(table), _plain(fact)
    for (fact,) in _fetch(POSTGRESQL_FUNCTIONS):
        yield "functions and views", _plain(fact)


def _plain(fact: object) -> str:
    return str(fact).strip().replace("public.", "").replace("::character varying", "")


def _sqlite() -> Iterator[tuple[str, str]]:
    for table, kind, text in _fetch(SQLITE_TABLES):
        if not re.match(OURS, str(table)):
            continue
        if kind == "table":
            _, _, body = str(text).partition("(")
            yield from ((str(table), part) for part in _parts(body.rpartition(")")[0]))
            yield str(table), f"table options: {body.rpartition(')')[2].strip() or 'none'}"
        else:
            yield str(table), BOOLEAN_CONDITION.sub(r"WHERE \1", str(text))


def _parts(body: str) -> Iterator[str]:
    """What stands between the commas of a table's definition, but those within brackets."""
    depth, start = 0, 0
    for position, character in enumerate(body):
        depth += (character == "(") - (character == ")")
        if character == "," and not depth:
            yield body[start:position].strip()
            start = position + 1
    yield body[start:].strip()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    sys.stdout.write(description())
