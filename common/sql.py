"""Statements over lists that read the same on PostgreSQL and SQLite.

A list of rows travels as one JSON parameter: `rows("id text, amount bigint")` is the FROM item `r(id, amount)`
that unpacks it, and `pack` makes the parameter. JSON columns travel as text (`json`), moments as ISO text.
"""

import json
from collections import namedtuple
from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import UTC, datetime
from functools import cache, lru_cache
from typing import Any

from django.db import connection
from psycopg.types.json import Jsonb

type_names = {
    "real": "double precision",
    "text": "text",
    "bigint": "bigint",
    "bool": "boolean",
    "time": "timestamptz",
    "json": "jsonb",
}
_kinds: dict[str, Any] = {}
MOST_KINDS = 500


@cache
def is_postgresql() -> bool:
    """Of this process, which has one database."""
    return connection.vendor == "postgresql"


def rows(columns: str) -> str:
    """The FROM item `r` of the given `name type` pairs; types: text, bigint, real, bool, time, json."""
    pairs = [column.split() for column in columns.split(",")]
    if is_postgresql():
        listed = ", ".join(f"{name} {type_names[kind]}" for name, kind in pairs)
        return f"jsonb_to_recordset(%s::jsonb) AS r({listed})"
    listed = ", ".join(f"json_extract(value, '$.{name}') AS {name}" for name, _ in pairs)
    return f"(SELECT {listed} FROM json_each(%s)) AS r"


def among(kind: str) -> str:
    """The condition `IN` for a list of ids of this type; `ids` makes its parameter."""
    return f"IN (SELECT r.id FROM {rows(f'id {kind}')})"


def ids(values: Iterable[object]) -> str:
    """The JSON parameter of `among`."""
    return pack({"id": value} for value in values)


def listed(kind: str) -> str:
    """The condition `IN` for a few values of this type, whose number does not change the statement; `values` makes its
    parameter."""
    return f"= ANY(%s::{type_names[kind]}[])" if is_postgresql() else "IN (SELECT value FROM json_each(%s))"


def values(found: Iterable[object]) -> Any:
    """The parameter of `listed`."""
    return list(found) if is_postgresql() else json.dumps(list(found))


def places(values: Sized) -> str:
    """The inside of an IN list for these parameters, for a short list whose length the planner should know."""
    return ", ".join(["%s"] * len(values)) or "NULL"


def words(values: Iterable[str]) -> str:
    """The inside of an IN list of words of our own, spelled out: for statements that stand fixed."""
    return ", ".join(f"'{word}'" for word in values)


def now() -> str:
    """The database's clock, as an SQL expression comparable with stored moments."""
    return "statement_timestamp()" if is_postgresql() else "strftime('%%Y-%%m-%%d %%H:%%M:%%f', 'now')"


def later(seconds: str) -> str:
    """The database's clock plus an SQL expression of seconds."""
    return after("statement_timestamp()" if is_postgresql() else "'now'", seconds)


def after(moment: str, seconds: str) -> str:
    """An SQL expression of a moment plus one of seconds."""
    if is_postgresql():
        return f"{moment} + make_interval(secs => ({seconds})::double precision)"
    return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', {moment}, ({seconds}) || ' seconds')"


def seconds_between(start: str, end: str) -> str:
    """The seconds from one moment to another, as an SQL expression of their expressions."""
    if is_postgresql():
        return f"EXTRACT(EPOCH FROM {end} - {start})"
    return f"(julianday({end}) - julianday({start})) * 86400.0"


def greatest(first: str, second: str) -> str:
    """The greater of two SQL expressions."""
    return f"{'GREATEST' if is_postgresql() else 'max'}({first}, {second})"


def least(first: str, second: str) -> str:
    """The lesser of two SQL expressions."""
    return f"{'LEAST' if is_postgresql() else 'min'}({first}, {second})"


def objects(fields: Mapping[str, str]) -> str:
    """The aggregate that makes a JSON list of the group's rows: an object each, of SQL expressions by name."""
    pairs = ", ".join(f"'{name}', {expression}" for name, expression in fields.items())
    if is_postgresql():
        return f"jsonb_agg(jsonb_build_object({pairs}))"
    return f"json_group_array(json_object({pairs}))"


def boolean(value: bool) -> str:
    """A truth value as an SQL expression."""
    return str(value).lower() if is_postgresql() else str(int(value))


def row_lock(*, skip_locked: bool = False) -> str:
    """Suffix that locks the selected rows where the database has row locks (SQLite: IMMEDIATE is the lock)."""
    if not is_postgresql():
        return ""
    return " FOR NO KEY UPDATE SKIP LOCKED" if skip_locked else " FOR NO KEY UPDATE"


def lock_timeout(seconds: float) -> str:
    """A column that bounds each wait for a lock from here to the end of the transaction (SQLite has one lock: NULL)."""
    return f"set_config('lock_timeout', '{round(seconds * 1000)}', true)" if is_postgresql() else "NULL"


def unindexed(column: str) -> str:
    """A text column as an SQL expression that no partial index answers. To the planner such an index looks empty, and
    a plan that reads all of it stays while it fills up."""
    return f"({column} || '')"


def pack(items: Iterable[Mapping[str, Any]]) -> str:
    """The JSON parameter of `rows`. JSON values must come as text made by `document`."""
    return _encoder.encode(list(items))


def packed(item: Mapping[str, Any], *, documents: Iterable[str] = ()) -> str:
    """Pack one item ahead of the others; `writes.packed` takes it. These columns of it are JSON."""
    if documents and not is_postgresql():
        item = {**item, **{name: document(item[name]) for name in documents}}
    return _encoder.encode(item)


def extended(item: str, more: Mapping[str, Any]) -> str:
    """Add columns to an item that is packed already and has some."""
    return f"{item[:-1]},{_encoder.encode(more)[1:]}"


def document(value: object) -> Any:
    """A JSON column's value for `pack`: an embedded object on PostgreSQL, text on SQLite."""
    if value is None:
        return None
    return value if is_postgresql() else json.dumps(value, separators=(",", ":"))


def document_parameter(value: object) -> Any:
    """A JSON column's value as a plain statement parameter."""
    return Jsonb(value) if is_postgresql() else json.dumps(value, separators=(",", ":"))


def moment(value: object) -> str:
    """A datetime as the database stores it: SQLite compares text, so always UTC without zone."""
    if not isinstance(value, datetime):
        raise TypeError(f"{value!r} has no SQL form")
    if is_postgresql():
        return value.isoformat()
    return value.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "milliseconds")


_encoder = json.JSONEncoder(default=moment, separators=(",", ":"))


def utc_day(moment: str) -> str:
    """The UTC day of a moment, both as SQL expressions; the day is a text such as 2026-11-23."""
    if is_postgresql():
        return f"CAST(({moment} AT TIME ZONE 'UTC')::date AS text)"
    return f"substr({moment}, 1, 10)"


def json_text(column: str, name: str) -> str:
    """A member of a JSON column as the SQL expression of a text; null where there is none."""
    return f"{column} ->> '{name}'" if is_postgresql() else f"CAST(json_extract({column}, '$.{name}') AS text)"


def as_moment(value: Any) -> datetime:
    """A moment as a raw statement returns it: SQLite gives text."""
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    found: datetime = value
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def as_document(value: Any) -> Any:
    """A JSON column as a raw statement returns it: text."""
    return _decoder.decode(value) if isinstance(value, str) else value


def _whole(digits: str) -> int | float:
    """PostgreSQL writes 1e22 out; no integer that we store needs more than 64 bits."""
    number = int(digits)
    return number if -(2**63) <= number < 2**63 else float(number)


_decoder = json.JSONDecoder(parse_int=_whole)


def fetch(statement: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Run one statement and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def column(statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Run one statement that returns one column; its values."""
    return [value for (value,) in fetch(statement, parameters)]


def value(statement: str, parameters: Sequence[Any] = ()) -> Any:
    """Run one statement that returns one row of one column; its value."""
    (found,) = column(statement, parameters)
    return found


def seconds_left(statement: str) -> float | None:
    """Run one statement that tells the seconds until a moment: 0 where that is past, None where there is none."""
    found = value(statement)
    return None if found is None else max(0.0, float(found))


def records(statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
    """Run one statement and return its rows, their columns by name: `row.task_id`."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        kind = _kinds.get(statement) or _learned(statement, cursor.description)
        return list(map(kind._make, cursor.fetchall())) if kind else []


def _learned(statement: str, columns: Any) -> Any:
    """What the statement's rows are made into; None where it has none. To ask for the columns costs as much as to send
    a short statement: so they are kept."""
    if not columns:
        return None
    if len(_kinds) >= MOST_KINDS:
        _kinds.clear()
    kind = _kinds[statement] = _record(tuple(column[0] for column in columns))
    return kind


@lru_cache(maxsize=500)
def _record(columns: tuple[str, ...]) -> Any:
    return namedtuple("Record", columns)


def run(statement: str, parameters: Sequence[Any] = ()) -> int:
    """Run one statement and return the number of rows it touched."""
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return int(cursor.rowcount)
