"""Authenticates presented secrets: whose one is, and whether it opens anything. One condition in SQL, and one judge.

Nothing of a key is cached, so what a command or the admin changes holds from the next request on. Whose it is, is only
remembered to share out what a process has (`accounts/holders.py`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter
from typing import Any

from accounts import holders, keys
from accounts.holders import Holder
from common import sql
from common.errors import AuthenticationError

BEARER = re.compile(r"Bearer +([\x21-\x7e]+)", re.IGNORECASE)


def digest_of(authorization: str | None) -> str:
    """Return what the secret of a raw Authorization header is looked up by; empty where there is none."""
    match = BEARER.fullmatch(authorization or "")
    return keys.digest(match[1]) if match else ""


def is_valid() -> str:
    """Make the SQL condition that a secret (ks) of a key (k) opens something now."""
    return VALID.format(now=sql.now())


def looked_up(statement: str, *columns: Sequence[Any]) -> list[Any]:
    """Run one statement for many requests: a row for each, with its number `n`, in their order. Of the columns that the
    requests bring, the first are the digests of their secrets.

    The statement says `{knocks}` for the requests, which it calls `r`, `{keys}` for the joins to secret (ks), key (k)
    and account (a), and `{valid}` for the condition."""
    requests = list(zip(*columns, strict=True))
    asked = _asked(statement, len(requests), len(columns))
    return sorted(sql.records(asked, [value for request in requests for value in request]), key=attrgetter("n"))


@lru_cache(maxsize=500)
def _asked(statement: str, count: int, columns: int) -> str:
    values = ", ".join(["%s"] * columns)
    requests = ", ".join(f"({n}, {values})" for n in range(count))
    joins = KEYS.format(secrets=LATERAL if sql.is_postgresql() else "accounts_keysecret")
    return statement.format(knocks=requests, keys=joins, valid=is_valid())


def refusal(row: Any) -> AuthenticationError | None:
    """Judge a row that has `key_id` and `is_valid`: the 401, the same for every cause, or None for a key that opens."""
    if row.key_id is None or not row.is_valid:
        return AuthenticationError(headers={"WWW-Authenticate": "Bearer"})
    return None


def remember(digest: str, row: Any) -> None:
    """Remember whose secret it is, once its request was let in."""
    holders.remember(digest, Holder(key_id=row.key_id, account_id=row.account_id))


VALID = """k.disabled_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > {now})
    AND (ks.retired_at IS NULL OR ks.retired_at > {now})"""
# A secret that is nobody's is answered, too.
KEYS = """LEFT JOIN {secrets} ks ON ks.digest = r.column2
LEFT JOIN accounts_apikey k ON k.id = ks.key_id
LEFT JOIN accounts_account a ON a.id = k.account_id"""
# Digests lie scattered, so that PostgreSQL would rather read all of them than ten by their index.
LATERAL = "LATERAL (SELECT * FROM accounts_keysecret WHERE digest = r.column2 LIMIT 1)"
