"""Seals of the ledger: what was booked up to a seal can be proved unchanged ever after, by whoever knows its hash.

The hash of a seal is the SHA-256, in lower-case hex, of these bytes: the hash of the seal before (64 zeros before the
first) and a line feed; then, in the order of their ids, one line for each entry after that seal's last one up to its
own last one. A line is a JSON array without blanks, in ASCII (other characters as \\uXXXX), and a line feed:

    [id,"reference","kind","book",account id or null,amount in micro-USD,"reason","2026-11-22T19:28:25.123456Z"]

A seal ends at an id that is settled: no lower one may still be committed (`common/database/settling.py`).
"""

import hashlib
import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from django.db import transaction

from billing.models import LedgerHead, LedgerSeal
from common import sql
from common.database import settling
from common.database.database_retry import release_connection

logger = logging.getLogger(__name__)
TABLE = "billing_ledgerentry"
FIRST = "0" * 64
PAGE = 5_000
SETTLING_SECONDS = 10.0
LOOK_SECONDS = 0.02
DAY = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """What a call of `seal` wrote; without a number it found nothing new. `held_up`: entries that are there could not
    be sealed yet, because another transaction may still commit a lower id."""

    number: int | None = None
    last_entry_id: int | None = None
    entries: int = 0
    sha256: str | None = None
    held_up: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainEnd:
    """Where the chain has got to."""

    number: int = 0
    last_entry_id: int = 0
    sha256: str = FIRST


def seal(*, wait_seconds: float = SETTLING_SECONDS) -> Sealed:
    """Seal what is settled and not sealed yet; writes nothing where there is nothing new, or where somebody else has
    just sealed it. Waits so long for transactions that may still commit a lower id."""
    last = last_end()
    top = newest()
    if top <= last.last_entry_id:
        return Sealed()
    if not _is_settled(wait_seconds):
        return Sealed(held_up=True)
    count, digest = hashed(last.sha256, last.last_entry_id, top, rest=release_connection)
    if not count:
        return Sealed()
    row = LedgerSeal(number=last.number + 1, last_entry_id=top, entries=count, sha256=digest)
    if not _append(row, last):
        return Sealed()
    logger.info("seal %d: %d entries up to %d, sha256 %s", row.number, count, top, digest)
    return Sealed(number=row.number, last_entry_id=top, entries=count, sha256=digest)


def seal_daily() -> Sealed:
    """Seal unless that was done within a day, by anybody."""
    recent = sql.fetch(f"SELECT 1 FROM billing_ledgerseal WHERE at > {sql.later(str(-DAY))} LIMIT 1")
    return Sealed() if recent else seal()


def last_end() -> ChainEnd:
    row = LedgerSeal.objects.order_by("number").last()
    return (
        ChainEnd() if row is None else ChainEnd(number=row.number, last_entry_id=row.last_entry_id, sha256=row.sha256)
    )


def newest() -> int:
    """The highest visible id, 0 where there is none."""
    return int(sql.value(f"SELECT COALESCE(max(id), 0) FROM {TABLE}"))


def _is_settled(wait_seconds: float) -> bool:
    """Whether all that may commit an id below those seen before this call has ended within the time."""
    waited_for = settling.drawing(TABLE, others_only=True)
    ends_at = time.monotonic() + wait_seconds
    while waited_for:
        if time.monotonic() >= ends_at:
            return False
        release_connection()
        time.sleep(LOOK_SECONDS)
        waited_for &= settling.drawing(TABLE, others_only=True)
    return True


def _append(row: LedgerSeal, last: ChainEnd) -> bool:
    """Write the seal, if the chain still ends where it was read; of sealers at the same time one succeeds."""
    with transaction.atomic():
        sql.run(
            "INSERT INTO billing_ledgerhead (id, number, sha256) VALUES (1, 0, %s) ON CONFLICT (id) DO NOTHING", [FIRST]
        )
        here = LedgerHead.objects.filter(pk=1, number=last.number)
        if not here.update(number=row.number, sha256=row.sha256):
            return False
        row.save(force_insert=True)
    return True


def nothing() -> None:
    """The connection is kept: its owner reads from a cursor meanwhile."""


def hashed(before: str, after_id: int, up_to_id: int, *, rest: Callable[[], None] = nothing) -> tuple[int, str]:
    """How many entries there are after one id up to another, and their hash, chained to the one before. `rest` is
    called with each page in hand, before it is hashed."""
    digest, count = hashlib.sha256(f"{before}\n".encode()), 0
    for line in lines(after_id, up_to_id, rest=rest):
        digest.update(line)
        count += 1
    return count, digest.hexdigest()


def lines(after_id: int, up_to_id: int, *, rest: Callable[[], None] = nothing) -> Iterator[bytes]:
    """The entries of a range as they are hashed, read a page at a time."""
    columns = "id, reference, kind, book, account_id, amount_micros, reason, at"
    statement = f"SELECT {columns} FROM {TABLE} WHERE id > %s AND id <= %s ORDER BY id LIMIT {PAGE}"
    while rows := sql.fetch(statement, [after_id, up_to_id]):
        rest()
        yield from (_line(row) for row in rows)
        after_id = rows[-1][0]


def _line(row: tuple[Any, ...]) -> bytes:
    *values, at = row
    return json.dumps([*values, _moment(at)], separators=(",", ":"), default=str).encode() + b"\n"


def _moment(value: Any) -> str:
    try:
        return sql.as_moment(value).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    except (AttributeError, ValueError):  # no moment at all: somebody has changed it
        return str(value)


def breaches() -> Iterator[tuple[str, str]]:
    """(subject, what is wrong) for each seal that is missing, changed, or whose entries are not as they were."""
    last = ChainEnd()
    for row in LedgerSeal.objects.order_by("number").iterator():
        if row.number != last.number + 1:
            yield f"seal {last.number + 1}", f"is missing before seal {row.number}"
        if row.last_entry_id <= last.last_entry_id:
            yield f"seal {row.number}", f"ends at entry {row.last_entry_id}, before the seal before it"
        count, digest = hashed(last.sha256, last.last_entry_id, row.last_entry_id)
        if (count, digest) != (row.entries, row.sha256):
            first = last.last_entry_id + 1
            yield f"seal {row.number}", _change(row, first, count)
        last = ChainEnd(number=row.number, last_entry_id=row.last_entry_id, sha256=row.sha256)
    yield from _lost()


def _change(row: LedgerSeal, first: int, count: int) -> str:
    where = f"entries {first} to {row.last_entry_id}"
    if count != row.entries:
        verb = "removed" if count < row.entries else "inserted"
        return f"{where}: {count} are there and {row.entries} were sealed: some were {verb}"
    return f"{where} are not as they were sealed: an entry, this seal or the one before was changed"


ENDS = """
SELECT COALESCE(h.number, 0) AS known, COALESCE(h.sha256, %s) AS known_sha256,
    COALESCE(s.number, 0) AS number, COALESCE(s.sha256, %s) AS sha256
FROM (SELECT 1 AS id) one LEFT JOIN billing_ledgerhead h ON h.id = one.id
LEFT JOIN billing_ledgerseal s ON s.number = (SELECT max(number) FROM billing_ledgerseal)
"""


def _lost() -> Iterator[tuple[str, str]]:
    """What is wrong with the end of the chain; one statement, since others may seal meanwhile."""
    (ends,) = sql.records(ENDS, [FIRST, FIRST])
    if ends.known > ends.number:
        yield f"seal {ends.known}", f"is missing: the last one that is there is {ends.number}"
    elif (ends.known, ends.known_sha256) != (ends.number, ends.sha256):
        yield f"seal {ends.number}", "is not the one that was written last"
