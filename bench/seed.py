"""Fills a migrated database through the models of the tree that it runs in: accounts, keys, ended tasks.

Runs as a script in its own process, `python -P seed.py --accounts N --tasks N`, with the tree as its working directory.
One task is made through the models; the database copies it, so that millions take seconds. Books, events and holds are
right: `check_ledger` finds nothing.
"""

import argparse
import hashlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.db.models import Model

CREDIT = 10**15  # micro-USD
PRICE = 40_000
MOST = 10_000_000  # beyond every limit
DETAILED = 30_000  # of the first tasks, which also have a paid call and a callback
TASK = "{task}"
RECEIVER = "https://receiver.example/"


def secret(number: int) -> str:
    """Returns the API key of the account with this number, from 0; the load generator computes it too."""
    return "dr-task-" + hashlib.sha256(f"bench {number}".encode()).hexdigest()[:43]


def authorizations(count: int) -> list[str]:
    return [f"Bearer {secret(number)}" for number in range(count)]


def ended_id(number: str) -> str:
    """Returns an SQL expression for the id of the ended task with this number, older than any real one."""
    return f"'task_00' || lpad(({number})::text, 24, '0')"


def ended_id_on_sqlite(number: str) -> str:
    return f"printf('task_00%024d', {number})"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--accounts", type=int, required=True)
    parser.add_argument("--tasks", type=int, required=True)
    given = parser.parse_args()
    sys.path.insert(0, os.getcwd())
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    import django

    django.setup()
    fill(given.accounts, given.tasks)


def fill(accounts: int, tasks: int) -> None:
    from django.db import transaction

    with transaction.atomic():
        open_accounts(accounts)
        if tasks:
            end_tasks(accounts, tasks)
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "ANALYZE")


def open_accounts(count: int) -> None:
    """Creates accounts with money, a key each, and limits out of reach."""
    from accounts.authentication import digest
    from accounts.models import Account, ApiKey, KeySecret
    from billing.models import LedgerEntry
    from common.encryption import encrypt

    limits = {"max_queued": MOST, "max_running": MOST}
    rows = Account.objects.bulk_create(
        [Account(id=n + 1, name=f"bench-{n}", balance_micros=CREDIT, **limits) for n in range(count)]
    )
    own = ApiKey.objects.bulk_create([ApiKey(id=a.id, account=a, name="key-1", **limits) for a in rows])
    KeySecret.objects.bulk_create(
        KeySecret(id=key.id, key=key, digest=digest(secret(n)), ciphertext=encrypt(secret(n)), last4=secret(n)[-4:])
        for n, key in enumerate(own)
    )
    legs = [("customer", 1), ("funding", -1)]
    LedgerEntry.objects.bulk_create(
        LedgerEntry(
            reference=f"opening-{a.id}",
            kind="credit",
            book=book,
            account=a if sign > 0 else None,
            amount_micros=sign * CREDIT,
            reason="bench",
        )
        for a in rows
        for book, sign in legs
    )


def end_tasks(accounts: int, count: int) -> None:
    """Creates succeeded tasks with payload, settled hold, charge and three events each, dealt to the accounts in turn;
    the first ones also have a call and a delivery."""
    from django.utils import timezone

    from billing.models import Hold, LedgerEntry
    from callbacks.models import Delivery
    from catalog.models import MediaModel
    from tasks.models import Call, RouteSet, Task, TaskEvent, TaskPayload, Worker

    now = timezone.now()
    routes, _ = RouteSet.objects.get_or_create(digest="none", defaults={"routes": []})
    first = Task.objects.create(
        id="task_00" + "0" * 24,
        key_id=1,
        secret_id=1,
        account_id=1,
        status="succeeded",
        attempt=1,
        route_set=routes,
        open_routes=routes,
        body_digest="0" * 64,
        price={"mode": "image_matrix", "unit_micros": PRICE},
        model_name="aurora-image",
        media_model=MediaModel.objects.get(name="aurora-image"),
        modality="image",
        estimated_micros=PRICE,
        actual_micros=PRICE,
        deadline_at=now,
        started_at=now,
        finished_at=now,
        callback_url=RECEIVER,
    )
    params = {"prompt": "p" * 700, "n": 1, "image_size": "1K", "aspect_ratio": "1:1"}
    trace = {"plan": "standard", "routes": []}
    # Marked as pruned like old tasks; the params stay, so that a GET reads as much as for a new one.
    TaskPayload.objects.create(task=first, params=params, trace=trace, pruned_at=now)
    Hold.objects.create(
        reference=first.id, account_id=1, amount_micros=PRICE, state="settled", created_at=now, closed_at=now
    )
    for status, attempt in (("queued", 0), ("running", 1), ("succeeded", 1)):
        TaskEvent.objects.create(task=first, key_id=1, status=status, attempt=attempt, at=now)
    for book, account, amount in (("customer", 1, -PRICE), ("revenue", None, PRICE)):
        LedgerEntry.objects.create(
            reference=first.id, kind="charge", book=book, account_id=account, amount_micros=amount, at=now
        )
    worker = Worker.objects.create(id="bench", host="bench", pid=1, lanes="", stopped_at=now)
    Call.objects.create(
        task=first, attempt=1, worker=worker, route_id=1, target={}, request_digest="0" * 64, state="done", ended_at=now
    )
    Delivery.objects.create(
        id=f"{first.id}-1",
        task=first,
        account_id=1,
        url=RECEIVER,
        host="receiver.example:443",
        status="delivered",
        attempts=1,
        next_attempt_at=None,
        scheduled_at=None,
        delivered_at=now,
    )
    owner = f"1 + n % {accounts}"
    called_back = f"CASE WHEN n < {DETAILED} THEN '{RECEIVER}' END"
    keys = {"key_id": owner, "secret_id": owner, "account_id": owner}
    multiply(Task, "id", first.id, count, {"id": TASK, **keys, "callback_url": called_back})
    multiply(TaskPayload, "task_id", first.id, count, {"task_id": TASK})
    multiply(Hold, "reference", first.id, count, {"reference": TASK, "account_id": owner})
    multiply(TaskEvent, "task_id", first.id, count, {"task_id": TASK, "key_id": owner}, numbered=True)
    owner_leg = f"CASE WHEN book = 'customer' THEN {owner} END"
    multiply(LedgerEntry, "reference", first.id, count, {"reference": TASK, "account_id": owner_leg}, numbered=True)
    detailed = min(count, DETAILED)
    multiply(Call, "task_id", first.id, detailed, {"task_id": TASK}, numbered=True)
    delivery = {"id": f"{TASK} || '-1'", "task_id": TASK, "account_id": owner}
    multiply(Delivery, "task_id", first.id, detailed, delivery)
    charge_accounts(accounts, count)


def multiply(
    model: "type[Model]", key: str, first: str, count: int, changes: dict[str, str], *, numbered: bool = False
) -> None:
    """Copies the rows of task 0 to tasks 1 … count-1. Changes are SQL expressions of n by column, in which TASK is the
    task's id; `numbered` rows get new ids."""
    from django.db import connection

    is_postgresql = connection.vendor == "postgresql"
    task = ended_id("n") if is_postgresql else ended_id_on_sqlite("n")
    series = f"generate_series(1, {count - 1}) AS n"
    recursive = ""
    if not is_postgresql:
        recursive = f"WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {count - 1}) "
        series = "s"
    columns = [f.column for f in model._meta.concrete_fields if not (numbered and f.primary_key)]
    picked = [changes[c].replace(TASK, task) if c in changes else f't."{c}"' for c in columns]
    listed = ", ".join(f'"{c}"' for c in columns)
    order = f" ORDER BY n, t.{model._meta.pk.column}" if numbered else ""
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {model._meta.db_table} ({listed}) {recursive}SELECT {', '.join(picked)} "
            f"FROM {series} CROSS JOIN {model._meta.db_table} t WHERE t.{key} = '{first}'{order}"
        )


def charge_accounts(accounts: int, count: int) -> None:
    """Sets the balances that the charges left."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE accounts_account SET balance_micros = balance_micros - {PRICE} * "
            f"({count // accounts} + CASE WHEN id <= {count % accounts} THEN 1 ELSE 0 END)"
        )


if __name__ == "__main__":
    main()
