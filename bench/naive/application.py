"""WSGI application for gunicorn; `python -m bench.naive.application ACCOUNTS TASKS` creates and fills the tables."""

import hashlib
import json
import os
import sys

from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.db import connection

from bench.seed import secret

os.environ["DJANGO_SETTINGS_MODULE"] = "bench.naive.settings"
application = get_wsgi_application()


def fill(accounts: int, tasks: int) -> None:
    """Fills the tables; tasks belong to the accounts in turn, with ids from 1."""
    from bench.naive.models import NaiveAccount, NaiveKey

    call_command("migrate", run_syncdb=True, verbosity=0)
    NaiveAccount.objects.bulk_create(NaiveAccount(id=n + 1, balance_micros=10**15) for n in range(accounts))
    NaiveKey.objects.bulk_create(
        NaiveKey(id=n + 1, account_id=n + 1, digest=hashlib.sha256(secret(n).encode()).hexdigest())
        for n in range(accounts)
    )
    with connection.cursor() as cursor:
        owner = f"1 + mod(n, {accounts})"
        series = f"generate_series(0, {tasks - 1}) AS n ORDER BY n"
        cursor.execute(
            "INSERT INTO naive_naivetask "
            "(key_id, account_id, model, modality, status, params, estimated_micros, created_at) "
            f"SELECT {owner}, {owner}, 'aurora-image', 'image', 'succeeded', %s, 40000, now() FROM {series}",
            [json.dumps({"prompt": "p" * 900, "n": 1, "image_size": "1K", "aspect_ratio": "1:1"})],
        )
        cursor.execute(
            "INSERT INTO naive_naiveledgerentry (account_id, task_id, kind, amount_micros, at) "
            f"SELECT {owner}, n + 1, 'reserve', 40000, now() FROM {series}"
        )
        cursor.execute(
            "INSERT INTO naive_naiveevent (task_id, key_id, status, at) "
            f"SELECT n + 1, {owner}, 'queued', now() FROM {series}"
        )
        cursor.execute("VACUUM ANALYZE")


if __name__ == "__main__":
    fill(int(sys.argv[1]), int(sys.argv[2]))
