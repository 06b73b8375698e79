"""The rate of tries to sign in, over any number of web processes: by the client's address, and by what one address
presents as a key. So nobody who tries elsewhere keeps a key's owner out.

Every try that is let in counts, right or wrong, for a minute. What was presented is kept as a keyed digest.
"""

from django.db import transaction
from django.utils.crypto import salted_hmac

from common import sql
from common.errors import RateLimited
from console.models import PresentedKey

SECONDS = 60
BY_ADDRESS = 60
BY_KEY = 30
MOST_TRIES = 100_000
LOCK = 720_345


def admit(place: str, secret: str) -> None:
    """Count one more try from this place. Raises RateLimited, which says when the next may come."""
    address, pair = _digest(place), _digest(f"{place}\0{secret}")
    _refuse(address, pair)  # without a lock, for whoever does not stop
    with transaction.atomic():
        _one_at_a_time(address)
        _refuse(address, pair)
        row = PresentedKey.objects.create(address=address, pair=pair)
        sql.run(PRUNE.format(since=sql.later("%s")), [-SECONDS, row.pk - MOST_TRIES])


def _refuse(address: str, pair: str) -> None:
    """Raises RateLimited."""
    statement = RECENT.format(age=sql.seconds_between("at", sql.now()), since=sql.later("%s"))
    tries = sql.fetch(statement, [address, -SECONDS])
    for whose, most, found in (
        ("your address", BY_ADDRESS, [age for _, age in tries]),
        ("your address with this key", BY_KEY, [age for presented, age in tries if presented == pair]),
    ):
        if len(found) >= most:
            left = max(1, round(SECONDS - float(found[most - 1])))
            message = f"More than {most} tries to sign in within a minute from {whose}. Try again in {left} seconds."
            raise RateLimited(message, headers={"Retry-After": str(left)})


def _digest(text: str) -> str:
    return salted_hmac("console.sign_in", text, algorithm="sha256").hexdigest()


def _one_at_a_time(address: str) -> None:
    """Of this address. SQLite's IMMEDIATE transaction is the lock there."""
    if sql.is_postgresql():
        sql.fetch("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, int(address[:7], 16)])


# The newest first; no more than count.
RECENT = f"""
SELECT pair, {{age}} FROM console_presentedkey WHERE address = %s AND at > {{since}}
ORDER BY at DESC LIMIT {BY_ADDRESS}
"""
PRUNE = "DELETE FROM console_presentedkey WHERE at <= {since} OR id <= %s"
