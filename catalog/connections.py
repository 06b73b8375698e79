"""Opens a channel's connection: its frozen address with a stored credential of that origin, decrypted for this call."""

import logging
import random
import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings

from adapters.base import Connection, Target
from catalog import sealing
from catalog.sealing import Unsealed
from common import redaction, sql, urls
from storage import blobs

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A usable credential in the clear."""

    id: int
    values: Mapping[str, str] = field(repr=False)


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
    found = None
    if channel_id is not None:
        origin, turn = urls.origin(target.base_url), turns.next(channel_id)
        rows = (stored([channel_id]) if known is None else known).get(channel_id, [])
        tried = in_turn(rows, turn, origin, first=credential_id, last=last, with_retired=follows)
        found = _first_opened(tried)
    return (
        found.id if found else None,
        Connection(
            base_url=target.base_url,
            credentials=found.values if found else {},
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
        if found := opened(row):
            return found
        logger.error("no key of ENCRYPTION_KEYS opens credential %d of channel %d", row.id, row.channel_id)
    return None


STORED = """
SELECT id, channel_id, origin, ciphertext, disabled_at, retired_at
FROM catalog_credential WHERE channel_id IN ({channels}) ORDER BY id
"""


@lru_cache(maxsize=64)
def _stored_statement(channels: int) -> str:
    return STORED.format(channels=sql.places(range(channels)))


def stored(channel_ids: Collection[int]) -> dict[int, list[Any]]:
    """The rows of these channels' credentials as they are now, by channel, oldest first. One statement."""
    found: dict[int, list[Any]] = {}
    for row in sql.records(_stored_statement(len(channel_ids)), [*channel_ids]):
        found.setdefault(row.channel_id, []).append(row)
    return found


def in_turn(
    of_channel: Iterable[Any],
    turn: int,
    origin: str,
    *,
    first: int | None = None,
    last: Collection[int] = (),
    with_retired: bool = False,
) -> list[Any]:
    """A channel's stored credentials for an origin in the order in which to try to open them: the one asked for,
    whatever its state, then the enabled ones, beginning with whose turn it is, these `last`;
    where asked for, the retired ones last, newest first. Pure."""
    rows = [row for row in of_channel if row.origin and row.origin == origin]
    asked = [row for row in rows if row.id == first]
    enabled = [row for row in rows if row.disabled_at is None and row not in asked]
    ready = [row for row in enabled if row.id not in last]
    start = turn % len(ready) if ready else 0
    others = [row for row in enabled if row.id in last]
    retired = [row for row in reversed(rows) if row.retired_at and row not in asked] if with_retired else []
    return [*asked, *ready[start:], *ready[:start], *others, *retired]


def opened(credential: Any) -> Opened | None:
    """This credential, a model's row or a stored one, in the clear; None where no key of ENCRYPTION_KEYS opens it, or
    it was sealed for another origin than its row says."""
    found = _unsealed(credential.ciphertext, credential.origin, tuple(settings.ENCRYPTION_KEYS))
    if found is None:
        return None
    for value in found.values.values():
        redaction.redact(value)
    return Opened(id=credential.id, values=found.values)


@lru_cache(maxsize=1_000)
def _unsealed(ciphertext: str, origin: str, _keys: tuple[str, ...]) -> Unsealed | None:
    """What is sealed for this origin. Remembered as long as all are the same: the row is read for each call, and
    another secret has another text."""
    found = sealing.unseal(ciphertext)
    return found if found and found.origin == origin else None
