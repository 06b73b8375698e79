"""How to reach a channel now: its frozen address with a credential opened for this call."""

import logging

from django.conf import settings

from adapters.base import Connection, Target
from catalog import credentials
from catalog.credentials import Opened
from common.encryption import Undecryptable
from tasks import storage

logger = logging.getLogger(__name__)


def connection(channel_id: int | None, target: Target, *, total_timeout: float) -> tuple[int | None, Connection]:
    """The credential's id and the connection. A channel without a usable credential is reached without one, which
    the adapter answers with an AUTH error before anything is sent."""
    opened = _opened(channel_id) if channel_id is not None else None
    return (
        opened.id if opened else None,
        Connection(
            base_url=target.base_url,
            credentials=opened.values if opened else {},
            options=target.options,
            total_timeout=total_timeout,
            open_stored=lambda file: storage.open(file.key),
            allow_networks=settings.OUTBOUND_ALLOW_NETWORKS,
            deny_networks=settings.OUTBOUND_DENY_NETWORKS,
        ),
    )


def _opened(channel_id: int) -> Opened | None:
    try:
        return credentials.opened(channel_id)
    except Undecryptable:
        logger.error("no key of ENCRYPTION_KEYS opens the credential of channel %d", channel_id)
        return None
