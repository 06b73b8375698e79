"""Channels as a whole: they cool down where they are too busy or cannot be reached; their last fault is noted."""

import logging

from django.db import transaction

from adapters.base import ErrorKind, UpstreamError
from catalog import credentials
from catalog.models import CatalogVersion, Channel
from common import backoff, sql

logger = logging.getLogger(__name__)

LONGEST_ASKED_SECONDS = 300.0
"""How long a provider may ask us to stay away: more is a quota's business, which has words of its own."""

CLEAR_CHANNEL = """
UPDATE catalog_channelhealth SET cooldowns = 0, cooldown_until =
    CASE WHEN last_kind <> 'transient' AND cooldown_until > {now} THEN cooldown_until END
WHERE channel_id = %s AND (cooldowns > 0 OR cooldown_until IS NOT NULL)
"""


def reached(channel_id: int) -> None:
    """It has answered. A cool-down that it asked for, or was too busy for, runs its time all the same."""
    sql.run(CLEAR_CHANNEL.format(now=sql.now()), [channel_id])


OTHERS = """
SELECT ciphertext FROM catalog_credential WHERE channel_id = %s AND id <> %s AND disabled_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM catalog_rest r WHERE r.credential_id = catalog_credential.id AND r.until > {now}
        AND r.account_id = 0 AND r.upstream_model = '')
"""


def is_last_that_opens(channel_id: int, credential_id: int) -> bool:
    """Whether the channel has others that are ready, but none that opens. A claim cannot see that, and would take the
    channel again and again."""
    others = sql.records(OTHERS.format(now=sql.now()), [channel_id, credential_id])
    return bool(others) and all(credentials.readable(row.ciphertext) is None for row in others)


def name_of(channel_id: int) -> str:
    return Channel.objects.filter(id=channel_id).values_list("name", flat=True).first() or f"#{channel_id}"


NOTE = """
INSERT INTO catalog_channelhealth (channel_id, cooldowns, unknown_total, last_kind, last_at)
SELECT id, 0, %s, %s, {now} FROM catalog_channel WHERE id = %s
ON CONFLICT (channel_id) DO UPDATE SET unknown_total = catalog_channelhealth.unknown_total + excluded.unknown_total,
    last_kind = excluded.last_kind, last_at = excluded.last_at
"""
STANDING = "SELECT cooldowns, cooldown_until > {now} AS is_resting FROM catalog_channelhealth WHERE channel_id = %s"
COOL_DOWN = """
UPDATE catalog_channelhealth SET cooldowns = %s, cooldown_until = {until}
WHERE channel_id = %s AND (cooldown_until IS NULL OR cooldown_until < {until})
"""


def note(channel_id: int, kind: ErrorKind) -> None:
    """What the channel last did wrong; an answer that was lost is counted."""
    sql.run(NOTE.format(now=sql.now()), [int(kind is ErrorKind.AMBIGUOUS), kind.value, channel_id])


def cool_down(channel_id: int, error: UpstreamError) -> None:
    """The whole channel rests: for as long as it asked, else ever longer. Many refusals at once are one cool-down."""
    note(channel_id, error.kind)
    rows = sql.records(STANDING.format(now=sql.now()), [channel_id])
    asked = error.retry_after
    if not rows or (rows[0].is_resting and not asked):
        return
    times = rows[0].cooldowns
    seconds = min(asked, LONGEST_ASKED_SECONDS) if asked else backoff.seconds(times)
    values = [times if rows[0].is_resting else times + 1, seconds, channel_id, seconds]
    if sql.run(COOL_DOWN.format(until=sql.later("%s")), values):
        logger.info("channel %d cools down for %.1f s", channel_id, seconds)


REFUSES_OPTIONS = """
INSERT INTO catalog_channelhealth (channel_id, cooldowns, unknown_total, last_kind,
    stream_options_refused_at, stream_options_refused_by)
SELECT id, 0, 0, '', {now}, %s FROM catalog_channel WHERE id = %s
ON CONFLICT (channel_id) DO UPDATE SET stream_options_refused_at = excluded.stream_options_refused_at,
    stream_options_refused_by = excluded.stream_options_refused_by
"""


def refuses_stream_options(channel_id: int, base_url: str) -> None:
    """The channel takes no such field at this address. It raises the catalog version, so that every process reads it
    before its next call."""
    with transaction.atomic():
        sql.run(REFUSES_OPTIONS.format(now=sql.now()), [base_url, channel_id])
        CatalogVersion.raise_it()
