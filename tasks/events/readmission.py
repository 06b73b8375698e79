"""Asks again whether the keys of open streams would be let in, by one statement for all streams of a process."""

from collections.abc import Iterable

from common import sql
from tasks.gate import VALID

ADMITTED = """
SELECT ks.id FROM {rows}
JOIN accounts_keysecret ks ON ks.id = r.id JOIN accounts_apikey k ON k.id = ks.key_id CROSS JOIN tasks_servicestate s
WHERE NOT s.api_disabled AND k.binding = 'task' AND k.task_api AND {valid}
"""


def still_admitted(secret_ids: Iterable[int]) -> frozenset[int]:
    """Those of the secrets that `gate.admit` would accept; none of them while the Task API is switched off."""
    statement = ADMITTED.format(rows=sql.rows("id bigint"), valid=VALID.format(now=sql.now()))
    return frozenset(sql.column(statement, [sql.ids(secret_ids)]))
