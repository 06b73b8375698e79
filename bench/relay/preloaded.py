"""Copies an ended call of the service thousands of times within the database. PostgreSQL only.

PostgreSQL plans differently for an empty table than for one in use.
"""

import psycopg
import requests

from bench import clones
from bench.clones import CopiedTable
from bench.model import Incorrect
from bench.relay import books, calls, general_keys
from bench.service import BenchService

COUNT = 10_000
TABLES = (
    CopiedTable(name="billing_relayedcall", key="id", changes={}),
    CopiedTable(name="billing_hold", key="reference", changes={}),
    CopiedTable(name="billing_ledgerentry", key="reference", changes={}, is_numbered=True),
)
COUNTED = ("calls", "cost_micros", "input_tokens", "output_tokens")
"""Columns of a key's totals by day and model."""


def fill(service: BenchService) -> None:
    """Adds calls of the first key, which has paid for each. Raises Incorrect."""
    headers = {"Authorization": f"Bearer {general_keys.secret(0)}", "Content-Type": "application/json"}
    answer = requests.post(service.base_url + calls.CHAT_PATH, data=calls.CHAT_BODY, headers=headers, timeout=60)
    if answer.status_code != 200:
        raise Incorrect(f"a relayed call was answered {answer.status_code}: {answer.text[:200]}")
    books.settle(service)
    copy(service.database_url, answer.headers["X-Call-Id"])


def copy(url: str, call_id: str) -> None:
    new_id = f"substr('{call_id}', 1, 15) || lpad(n::text, 16, '0')"
    with psycopg.connect(url) as connection:
        for table in TABLES:
            series = f"generate_series(1, {COUNT})"
            clones.copy_rows(connection, table, call_id, new_id=new_id, series=series)
        sums = ", ".join(f"{name} = {name} * {COUNT + 1}" for name in COUNTED)
        connection.execute(f"UPDATE billing_relayusage SET {sums}".encode())
        connection.execute(
            f"UPDATE accounts_account a SET balance_micros = balance_micros - {COUNT} * c.actual_micros "
            "FROM billing_relayedcall c WHERE c.id = %s AND a.id = c.account_id".encode(),
            [call_id],
        )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
