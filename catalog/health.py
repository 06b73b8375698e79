"""How channels fare: after each paid call, what its answer says about the channel and the credential it went out with.

All by the database's clock. Nothing here raises the catalog version but a refusal of `stream_options`: claims read
these rows themselves (`UNUSABLE`).
"""

import logging

from django.db import transaction

from adapters.base import ErrorKind, UpstreamError
from catalog import credential_probes, credentials
from catalog.models import CatalogVersion, Channel
from common import backoff, redaction, sql

logger = logging.getLogger(__name__)

LONGEST_RETRY_AFTER_SECONDS = 3600.0

# Rows (kind, channel id): "disabled" has credentials but none that is enabled; "resting" may be used later.
UNUSABLE = """
SELECT CASE WHEN count(*) = count(disabled_at) THEN 'disabled' ELSE 'resting' END AS kind, channel_id
FROM catalog_credential GROUP BY channel_id
HAVING count(CASE WHEN disabled_at IS NULL AND (cooldown_until IS NULL OR cooldown_until <= {now}) THEN 1 END) = 0
UNION ALL
SELECT 'resting', channel_id FROM catalog_channelhealth WHERE cooldown_until > {now}
"""


def succeeded(channel_id: int | None, credential_id: int | None) -> None:
    """The channel answered as it should: what counted against it is forgotten. Writes only where something is.

    A cool-down that the provider asked for, or that it was too busy for, runs its time all the same: the call may have
    gone out before.
    """
    marked = {row.place for row in sql.records(MARKED, [channel_id, credential_id])}
    if "channel" in marked:
        sql.run(CLEAR_CHANNEL.format(now=sql.now()), [channel_id])
    if "credential" in marked:
        sql.run(CLEAR_CREDENTIAL, [credential_id])


MARKED = """
SELECT 'channel' AS place FROM catalog_channelhealth
WHERE channel_id = %s AND (cooldowns > 0 OR cooldown_until IS NOT NULL)
UNION ALL
SELECT 'credential' FROM catalog_credential
WHERE id = %s AND disabled_at IS NULL AND (cooldowns > 0 OR probes > 0)
"""
CLEAR_CHANNEL = """
UPDATE catalog_channelhealth SET cooldowns = 0, cooldown_until =
    CASE WHEN last_kind <> 'transient' AND cooldown_until > {now} THEN cooldown_until END
WHERE channel_id = %s
"""
CLEAR_CREDENTIAL = """
UPDATE catalog_credential SET cooldowns = 0, probes = 0 WHERE id = %s AND disabled_at IS NULL
"""


def refused(channel_id: int | None, credential_id: int | None, error: UpstreamError) -> None:
    """The paid call raised: rest, disable or only count, as its kind says. Safe to repeat."""
    if channel_id is None:
        return
    if error.kind in (ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED, ErrorKind.TRANSIENT):
        of_credential = credential_id if error.kind is ErrorKind.RATE_LIMITED else None
        if of_credential is not None:
            _rest(CREDENTIAL, of_credential, error.retry_after)
        if of_credential is None or _is_last_that_opens(channel_id, of_credential):
            _note(channel_id, error.kind)
            _rest(CHANNEL, channel_id, error.retry_after)
    elif error.kind is ErrorKind.AMBIGUOUS:
        _note(channel_id, error.kind)
        logger.error("channel %s: nobody knows what became of a paid call: %s", name_of(channel_id), error)
    elif error.kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED):
        _disable(channel_id, credential_id, error)
    else:  # a refusal of the request: the channel lives
        succeeded(channel_id, credential_id)


OTHERS = """
SELECT ciphertext FROM catalog_credential WHERE channel_id = %s AND id <> %s AND disabled_at IS NULL
    AND (cooldown_until IS NULL OR cooldown_until <= {now})
"""


def _is_last_that_opens(channel_id: int, credential_id: int) -> bool:
    """Whether the channel has others that are ready, but none that opens. A claim cannot see that, and would take the
    channel again and again."""
    others = sql.records(OTHERS.format(now=sql.now()), [channel_id, credential_id])
    return bool(others) and all(credentials.readable(row.ciphertext) is None for row in others)


def unusable() -> tuple[frozenset[int], frozenset[int]]:
    """The channels, by id, that are disabled now: they have credentials, but none that is enabled; and that rest."""
    rows = sql.records(UNUSABLE.format(now=sql.now()))
    disabled = frozenset(row.channel_id for row in rows if row.kind == "disabled")
    return disabled, frozenset(row.channel_id for row in rows) - disabled


def name_of(channel_id: int) -> str:
    return Channel.objects.filter(id=channel_id).values_list("name", flat=True).first() or f"#{channel_id}"


NOTE = """
INSERT INTO catalog_channelhealth (channel_id, cooldowns, unknown_total, last_kind, last_at)
SELECT id, 0, %s, %s, {now} FROM catalog_channel WHERE id = %s
ON CONFLICT (channel_id) DO UPDATE SET unknown_total = catalog_channelhealth.unknown_total + excluded.unknown_total,
    last_kind = excluded.last_kind, last_at = excluded.last_at
"""


def _note(channel_id: int, kind: ErrorKind) -> None:
    """What the channel last did wrong; an answer that was lost is counted."""
    sql.run(NOTE.format(now=sql.now()), [int(kind is ErrorKind.AMBIGUOUS), kind.value, channel_id])


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


CHANNEL, CREDENTIAL = ("catalog_channelhealth", "channel_id"), ("catalog_credential", "id")
STANDING = "SELECT cooldowns, cooldown_until > {now} AS is_resting FROM {table} WHERE {key} = %s"
REST = """
UPDATE {table} SET cooldowns = %s, cooldown_until = {until}
WHERE {key} = %s AND (cooldown_until IS NULL OR cooldown_until < {until})
"""


def _rest(place: tuple[str, str], row_id: int, asked: float | None) -> None:
    """Cool down for as long as the provider asked, else ever longer. Many refusals at once are one cool-down."""
    table, key = place
    rows = sql.records(STANDING.format(now=sql.now(), table=table, key=key), [row_id])
    if not rows or (rows[0].is_resting and not asked):
        return
    times = rows[0].cooldowns
    seconds = min(asked, LONGEST_RETRY_AFTER_SECONDS) if asked else backoff.seconds(times)
    statement = REST.format(table=table, key=key, until=sql.later("%s"))
    if sql.run(statement, [times if rows[0].is_resting else times + 1, seconds, row_id, seconds]):
        logger.info("%s %d cools down for %.1f s", "credential" if place == CREDENTIAL else "channel", row_id, seconds)


def _disable(channel_id: int, credential_id: int | None, error: UpstreamError) -> None:
    spoken = " ".join(redaction.clean(error.message).split())
    what = f"{error.kind.value} {error.code or error.http_status or ''}".strip()
    reason = f"{what}: {spoken}"[:200]
    if credential_id is not None and credential_probes.disable(credential_id, reason):
        logger.error("channel %s: credential %d is disabled: %s", name_of(channel_id), credential_id, reason)
