"""Makes one attempt: a new body, signed with the secret that submitted the task, sent through the outbound door.

No transaction and no database connection is open while it is sent. `deliveries` decides what follows from the outcome.
"""

import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from django.db import InterfaceError, OperationalError, connection

from accounts import keys
from callbacks import signing
from callbacks.deliveries import Due, Outcome
from common import swallowed
from common.http import retry_after
from common.outbound import AddressRefused, Failed, Limits, Reply, UrlPolicy, open_url
from common.outgoing.lookup import customer

logger = logging.getLogger(__name__)

MakeBody = Callable[[Due, int], bytes]

MOST_BYTES = 64 * 1024
EXCERPT_BYTES = 4 * 1024
LONGEST_WAIT_SECONDS = 999_999_999.0
# Without a cap on the size: reading stops after MOST_BYTES, however much was announced.
LIMITS = Limits(max_bytes=1 << 64, connect_seconds=5, total_seconds=15)


def deliver(due: Due, make_body: MakeBody, *, policy: UrlPolicy, limits: Limits = LIMITS) -> Outcome:
    """Send this attempt; `make_body` gets the delivery and the attempt's Unix time.

    Raises OperationalError or InterfaceError where the database was away before anything was sent.
    """
    at, started = datetime.now(UTC), time.monotonic()
    try:
        body, headers = _signed(due, make_body, int(at.timestamp()))
        connection.close()
        with open_url(
            due.url,
            policy=policy,
            limits=limits,
            chosen_by=customer(str(due.account_id)),
            method="POST",
            headers=headers,
            body=body,
        ) as reply:
            outcome = _answered(reply, at)
    except (OperationalError, InterfaceError):
        raise
    except AddressRefused as refused:
        logger.info("delivery %s is refused: %s", due.id, refused)
        outcome = Outcome(at=at, error="the address is not allowed")
    except Failed as failed:
        logger.info("delivery %s failed: %s", due.id, failed)
        outcome = Outcome(at=at, error=failed.words)
    except Exception:  # a fault of ours is retried on the schedule like any other
        swallowed.note("callbacks.sender")
        logger.error("delivery %s could not be sent", due.id)
        outcome = Outcome(at=at, error="the callback could not be made")
    return replace(outcome, duration_ms=round((time.monotonic() - started) * 1000))


def _signed(due: Due, make_body: MakeBody, timestamp: int) -> tuple[bytes, dict[str, str]]:
    body = make_body(due, timestamp)
    headers = signing.headers(keys.reveal(due.secret_id), delivery_id=due.id, timestamp=timestamp, body=body)
    return body, {"Content-Type": "application/json", **headers}


def _answered(reply: Reply, at: datetime) -> Outcome:
    """The status line and the head are the answer, whatever becomes of the body."""
    asked = retry_after.seconds(reply.headers.get("Retry-After", ""), longest=LONGEST_WAIT_SECONDS)
    return Outcome(at=at, status_code=reply.status, retry_after=asked, excerpt=_excerpt(reply))


def _excerpt(reply: Reply) -> str:
    """The beginning of the body, or of what came of it before it broke off or the time was over."""
    kept, read = b"", 0
    with suppress(Failed):
        for chunk in reply.chunks:
            kept += chunk[: EXCERPT_BYTES - len(kept)]
            read += len(chunk)
            if read >= MOST_BYTES:
                break
    return kept.decode(errors="replace").replace("\0", "\ufffd")
