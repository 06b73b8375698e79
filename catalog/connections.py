"""Opens a channel's connection: its frozen address with a credential of that origin, decrypted for this call."""

import logging
import random
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings

from adapters.base import Connection, Target
from catalog import credentials
from catalog.credentials import Opened
from common import urls
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
    follows: bool = False,
    reference: str = "",
    payer: str = "",
    output_dir: Path | None = None,
    known: Mapping[int, Sequence[Any]] | None = None,
    last: Collection[int] = (),
) -> tuple[int | None, Connection]:
    """The credential's id and the connection. A credential goes only where it was entered for: the target's origin.

    The given credential, even where it has been disabled since; without one, or where it is gone, the next of the
    usable ones, these `last`; at last, to follow a job, a retired one. A channel without any is
    reached without, which the adapter answers with an AUTH error before anything is sent. `known` are the stored
    credentials by channel, where they were read for many calls together.
    """
    opened = None
    if channel_id is not None:
        origin, turn = urls.origin(target.base_url), turns.next(channel_id)
        stored = (credentials.stored([channel_id]) if known is None else known).get(channel_id, [])
        rows = credentials.in_turn(stored, turn, origin, first=credential_id, last=last, with_retired=follows)
        opened = _first_opened(rows)
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
            payer=payer,
            output_dir=output_dir,
        ),
    )


def _first_opened(rows: Iterable[Any]) -> Opened | None:
    for row in rows:
        opened = credentials.opened(row)
        if opened is not None:
            return opened
        logger.error("no key of ENCRYPTION_KEYS opens credential %d of channel %d", row.id, row.channel_id)
    return None
