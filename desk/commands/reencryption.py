"""Moves every stored secret to the first of ENCRYPTION_KEYS, row by row, beside whoever reads and writes them.

Each row is a statement of its own, which writes only what it has read: a run may be killed and begun again at any time.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from common import encryption, sql

PAGE = 200
ROUNDS = 3
TABLES: Mapping[str, str] = {
    "catalog_credential": "channel credential",
    "accounts_keysecret": "key secret",
}
"""What one row of each table is. Every `ciphertext` that is stored is in one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSecret:
    """A row, and the place of the key that opens it in ENCRYPTION_KEYS, from 0; None where none does."""

    table: str
    id: int
    ciphertext: str = field(repr=False)
    place: int | None

    def __str__(self) -> str:
        return f"{TABLES[self.table]} {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeeds:
    """How many secrets each key opens, by its place, and which none opens."""

    under: Mapping[int, int]
    closed: tuple[str, ...]

    @property
    def under_older(self) -> dict[int, int]:
        """Those that are not under the first key. While there are any, its key must stay."""
        return {place: count for place, count in sorted(self.under.items()) if place > 0}


def stored() -> Iterator[StoredSecret]:
    """All secrets, read a page at a time."""
    for table in TABLES:
        last = 0
        statement = f"SELECT id, ciphertext FROM {table} WHERE id > %s ORDER BY id LIMIT {PAGE}"
        while rows := sql.fetch(statement, [last]):
            for row_id, ciphertext in rows:
                yield StoredSecret(
                    table=table, id=row_id, ciphertext=ciphertext, place=encryption.opened_by(ciphertext)
                )
            last = rows[-1][0]


def survey() -> KeyNeeds:
    """Which keys are needed; changes nothing."""
    found = list(map(_known, stored()))
    return KeyNeeds(
        under=Counter(place for _, place in found if place is not None),
        closed=tuple(shown for shown, place in found if place is None),
    )


def _known(secret: StoredSecret) -> tuple[str, int | None]:
    return str(secret), secret.place


def move_all() -> Counter[str]:
    """Move what is under an older key, again where others wrote meanwhile; how many rows of each kind that were."""
    moved: Counter[str] = Counter()
    for _ in range(ROUNDS):
        found = Counter(TABLES[secret.table] for secret in moves())
        moved += found
        if not found:
            break
    return moved


def moves() -> Iterator[StoredSecret]:
    """Move each secret that an older key opens; those that were moved, each once that is committed."""
    for secret in stored():
        if secret.place and swap(secret):
            yield secret


def swap(secret: StoredSecret) -> bool:
    """Encrypt a row by the first key, unless somebody has written it since it was read."""
    statement = f"UPDATE {secret.table} SET ciphertext = %s WHERE id = %s AND ciphertext = %s"
    new = encryption.under_first_key(secret.ciphertext)
    return bool(sql.run(statement, [new, secret.id, secret.ciphertext]))
