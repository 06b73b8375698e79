"""Re-encryption of every stored secret with the first of ENCRYPTION_KEYS, row by row, while the service runs.

Each row is one compare-and-swap statement, so a run may be killed and restarted at any time.
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
"""Name of a row by table; these tables hold every stored `ciphertext`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSecret:
    """Stored ciphertext; `place` is the index in ENCRYPTION_KEYS of the key that opens it, None if none does."""

    table: str
    id: int
    ciphertext: str = field(repr=False)
    place: int | None

    def __str__(self) -> str:
        return f"{TABLES[self.table]} {self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyNeeds:
    """Number of secrets by index of the key that opens them, and those that none opens."""

    under: Mapping[int, int]
    closed: tuple[str, ...]

    @property
    def under_older(self) -> dict[int, int]:
        """Count secrets under older keys, which must stay while there are any."""
        return {place: count for place, count in sorted(self.under.items()) if place > 0}


def stored() -> Iterator[StoredSecret]:
    """Yield all secrets, read in pages."""
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
    """Find out which keys are needed. Changes nothing."""
    found = list(map(_known, stored()))
    return KeyNeeds(
        under=Counter(place for _, place in found if place is not None),
        closed=tuple(shown for shown, place in found if place is None),
    )


def _known(secret: StoredSecret) -> tuple[str, int | None]:
    return str(secret), secret.place


def move_all() -> Counter[str]:
    """Re-encrypt secrets under older keys, repeating for concurrent writes; return the rows moved by kind."""
    moved: Counter[str] = Counter()
    for _ in range(ROUNDS):
        found = Counter(TABLES[secret.table] for secret in moves())
        moved += found
        if not found:
            break
    return moved


def moves() -> Iterator[StoredSecret]:
    """Re-encrypt each secret under an older key; yield each once it is committed."""
    for secret in stored():
        if secret.place and swap(secret):
            yield secret


def swap(secret: StoredSecret) -> bool:
    """Encrypt a row with the first key, unless it changed since it was read."""
    statement = f"UPDATE {secret.table} SET ciphertext = %s WHERE id = %s AND ciphertext = %s"
    new = encryption.under_first_key(secret.ciphertext)
    return bool(sql.run(statement, [new, secret.id, secret.ciphertext]))
