"""Counter of failed sign-ins by name and address, which locks the pair after five, across all web processes.

A try counts before its password is checked and is withdrawn if it was right, so concurrent tries are limited as well.
Unknown names lock like known ones. The table is bounded by age and size.
"""

import logging

from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from common import sql
from common.http import client_address
from desk.models import SignInTry

FAILURES = 5
SECONDS = 15 * 60
MOST_TRIES = 100_000
LOCK = 7_203_451_002
logger = logging.getLogger(__name__)


def begin(request: HttpRequest, name: str) -> int | None:
    """Count a try and return its id, to be withdrawn on success; None while the pair is locked."""
    pair = pair_of(request, name)
    with transaction.atomic():
        _one_at_a_time()
        ((count, locking),) = sql.fetch(RECENT.format(since=sql.later("%s")), [pair, -SECONDS])
        if locking or count >= FAILURES:
            return None
        row = SignInTry.objects.create(pair=pair, locks=count + 1 == FAILURES)
        sql.run(PRUNE.format(since=sql.later("%s")), [-SECONDS, row.pk - MOST_TRIES])
    if row.locks:
        logger.warning("fifth try of a name to sign in from %s: locked unless it is right", client_address.of(request))
    return row.pk


RECENT = """
SELECT count(*), count(*) FILTER (WHERE locks) FROM desk_signintry WHERE pair = %s AND at > {since}
"""
PRUNE = "DELETE FROM desk_signintry WHERE at <= {since} OR id <= %s"


def withdraw(try_id: int) -> None:
    """Remove a try whose password was right, and a lock that it contributed to meanwhile."""
    with transaction.atomic():
        _one_at_a_time()
        row = SignInTry.objects.filter(pk=try_id).first()
        if row is not None:  # the table was not emptied meanwhile
            row.delete()
            SignInTry.objects.filter(pair=row.pair, locks=True).update(locks=False)


def pair_of(request: HttpRequest, name: str) -> str:
    """Digest name and address with a key, because people type passwords into the name field."""
    return salted_hmac("desk.sign_in", f"{client_address.place(request)}\0{name}", algorithm="sha256").hexdigest()


def _one_at_a_time() -> None:
    """Serialise tries on PostgreSQL; SQLite's IMMEDIATE transaction is the lock there."""
    if sql.is_postgresql():
        sql.fetch("SELECT pg_advisory_xact_lock(%s)", [LOCK])
