"""Rate limit on sign-in tries across all web processes: by client address, and by address and presented key, so that
tries from elsewhere cannot lock out a key's owner.

Every accepted try counts for a minute, right or wrong. The presented key is stored as a keyed digest.
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


def begin(place: str, secret: str) -> None:
    """Count a try from this address. Raises RateLimited, which says when the next is allowed."""
    address, pair = _digest(place), _digest(f"{place}\0{secret}")
    _refuse(address, pair)  # first without a lock, which is cheaper under attack
    with transaction.atomic():
        _one_at_a_time(address)
        _refuse(address, pair)
        row = PresentedKey.objects.create(address=address, pair=pair)
        sql.run(PRUNE.format(since=sql.later("%s")), [-SECONDS, row.pk - MOST_TRIES])


def _refuse(address: str, pair: str) -> None:
    """Raise RateLimited if a limit is reached."""
    statement = RECENT.format(age=sql.seconds_between("at", sql.now()), since=sql.later("%s"))
    tries = sql.fetch(statement, [address, -SECONDS])
    for whose, most, found in (
        ("your address", BY_ADDRESS, [age for _, age in tries]),
        ("your address with this key", BY_KEY, [age for presented, age in tries if presented == pair]),
    ):
        if len(found) >= most:
            left = max(1, round(SECONDS - float(found[most - 1])))
            message = f"More than {most} sign-in attempts within a minute from {whose}. Try again in {left} seconds."
            raise RateLimited(message, headers={"Retry-After": str(left)})


def _digest(text: str) -> str:
    return salted_hmac("console.sign_in", text, algorithm="sha256").hexdigest()


def _one_at_a_time(address: str) -> None:
    """Serialise tries of this address on PostgreSQL; SQLite's IMMEDIATE transaction is the lock there."""
    if sql.is_postgresql():
        sql.fetch("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, int(address[:7], 16)])


# The newest first, up to the limit.
RECENT = f"""
SELECT pair, {{age}} FROM console_presentedkey WHERE address = %s AND at > {{since}}
ORDER BY at DESC LIMIT {BY_ADDRESS}
"""
PRUNE = "DELETE FROM console_presentedkey WHERE at <= {since} OR id <= %s"
