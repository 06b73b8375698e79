"""Opens a channel's connection: its frozen address with a credential decrypted for this call."""

import logging
import random
import threading
from itertools import count

from django.conf import settings

from adapters.base import Connection, Target
from catalog import credentials
from catalog.credentials import Opened
from storage import blobs

logger = logging.getLogger(__name__)


class Turns:
    """Whose turn it is, channel by channel, in this process; begins anywhere, so that processes do not go in step."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._of: dict[int, count[int]] = {}

    def next(self, channel_id: int) -> int:
        with self._lock:
            return next(self._of.setdefault(channel_id, count(random.randrange(1_000_000))))


turns = Turns()


def to(
    channel_id: int | None,
    target: Target,
    *,
    total_timeout: float,
    credential_id: int | None = None,
    reference: str = "",
) -> tuple[int | None, Connection]:
    """The credential's id and the connection.

    The given credential, even where it has been disabled since; without one, or where it is gone, the next of the
    usable ones. A channel without any is reached without, which the adapter answers with an AUTH error before anything
    is sent.
    """
    opened = _opened(channel_id, credential_id) if channel_id is not None else None
    return (
        opened.id if opened else None,
        Connection(
            base_url=target.base_url,
            credentials=opened.values if opened else {},
            options=target.options,
            total_timeout=total_timeout,
            open_stored=lambda file: blobs.open(file.key),
            allow_networks=settings.OUTBOUND_ALLOW_NETWORKS,
            deny_networks=settings.OUTBOUND_DENY_NETWORKS,
            reference=reference,
        ),
    )


def _opened(channel_id: int, credential_id: int | None) -> Opened | None:
    for credential in credentials.in_turn(channel_id, turns.next(channel_id), first=credential_id):
        opened = credentials.opened(credential)
        if opened is not None:
            return opened
        logger.error("no key of ENCRYPTION_KEYS opens credential %d of channel %d", credential.pk, channel_id)
    return None
