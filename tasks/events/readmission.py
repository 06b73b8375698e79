"""Asks again whether open streams would be let in, by one statement for all streams of a process and kind."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from accounts import authentication
from accounts.authentication import Caller
from common import sql

Check = Callable[[Iterable[int]], frozenset[int]]
"""Takes ids, and returns those that still let somebody in. One statement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Admitted:
    """Who listens, and what has let them in: each (check, id) has to hold for as long as they listen."""

    caller: Caller
    proofs: tuple[tuple[Check, int], ...]


SECRETS = f"""
SELECT ks.id, {authentication.JUDGED} FROM {{rows}}
JOIN accounts_keysecret ks ON ks.id = r.id JOIN accounts_apikey k ON k.id = ks.key_id CROSS JOIN tasks_servicestate s
"""


def still_admitted(secret_ids: Iterable[int]) -> frozenset[int]:
    """Those of the secrets that `authentication.admit` would accept; none while the Task API is switched off."""
    statement = SECRETS.format(rows=sql.rows("id bigint"), valid=authentication.is_valid())
    rows = sql.records(statement, [sql.ids(secret_ids)])
    return frozenset(row.id for row in rows if authentication.task_refusal(row) is None)


def by_secret(caller: Caller, *more: tuple[Check, int]) -> Admitted:
    """A guest for as long as the secret that was presented opens the Task API."""
    return Admitted(caller=caller, proofs=((still_admitted, caller.secret_id), *more))
