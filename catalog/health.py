"""How channels fare: after each paid call, what its answer says about the channel and the credential it went out with.

All by the database's clock. Nothing here raises the catalog version: claims read these rows themselves (`UNUSABLE`).
"""

import logging

from adapters.base import ErrorKind, UpstreamError
from catalog import credential_probes, credentials
from catalog.models import Channel
from common import redaction, sql

logger = logging.getLogger(__name__)

FAULTS_IN_A_ROW = 3
FAULT_SECONDS, LONGEST_FAULT_SECONDS = 2.0, 60.0
BUSY_SECONDS, LONGEST_BUSY_SECONDS = 1.0, 60.0
LONGEST_RETRY_AFTER_SECONDS = 3600.0

# Rows (kind, channel id): "disabled" has credentials but none that is enabled; "resting" may be used later.
UNUSABLE = """
SELECT CASE WHEN count(*) = count(disabled_at) THEN 'disabled' ELSE 'resting' END AS kind, channel_id
FROM catalog_credential GROUP BY channel_id
HAVING count(CASE WHEN disabled_at IS NULL AND (cooldown_until IS NULL OR cooldown_until <= {now}) THEN 1 END) = 0
UNION ALL
SELECT 'resting', channel_id FROM catalog_channelhealth WHERE cooldown_until > {now}
"""


def backoff(times: int, *, first: float, longest: float) -> float:
    """Seconds: the first, then twice as long each time, up to the longest."""
    return min(first * 2.0 ** min(times, 20), longest)


def succeeded(channel_id: int | None, credential_id: int | None) -> None:
    """The channel answered as it should: what counted against it is forgotten. Writes only where something is.

    A cool-down that the provider asked for, or that it was too busy for, runs its time all the same: the call may have
    gone out before.
    """
    marked = sql.fetch(MARKED, [channel_id, credential_id])
    if any(table == "channel" for (table,) in marked):
        sql.run(CLEAR_CHANNEL.format(now=sql.now()), [channel_id])
    if any(table == "credential" for (table,) in marked):
        sql.run(CLEAR_CREDENTIAL, [credential_id])


MARKED = """
SELECT 'channel' FROM catalog_channelhealth
WHERE channel_id = %s AND (faults > 0 OR cooldowns > 0 OR cooldown_until IS NOT NULL)
UNION ALL
SELECT 'credential' FROM catalog_credential
WHERE id = %s AND disabled_at IS NULL AND (cooldowns > 0 OR probes > 0)
"""
CLEAR_CHANNEL = """
UPDATE catalog_channelhealth SET faults = 0, cooldowns = 0, cooldown_until =
    CASE WHEN last_kind IN ('rate_limited', 'overloaded') AND cooldown_until > {now} THEN cooldown_until END
WHERE channel_id = %s
"""
CLEAR_CREDENTIAL = """
UPDATE catalog_credential SET cooldowns = 0, probes = 0 WHERE id = %s AND disabled_at IS NULL
"""


def refused(channel_id: int | None, credential_id: int | None, error: UpstreamError) -> None:
    """The paid call raised: rest, disable or only count, as its kind says. Safe to repeat."""
    if channel_id is None:
        return
    if error.kind is ErrorKind.RATE_LIMITED and credential_id is not None:
        _rest(CREDENTIAL, credential_id, error.retry_after)
    elif error.kind in (ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED):
        _note(channel_id, error.kind)
        _rest(CHANNEL, channel_id, error.retry_after)
    elif error.kind is ErrorKind.TRANSIENT:
        _unreachable(channel_id)
    elif error.kind is ErrorKind.AMBIGUOUS:
        _note(channel_id, error.kind, unknown=1)
        logger.error("channel %s: nobody knows what became of a paid call: %s", name_of(channel_id), error)
    elif error.kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED):
        _disable(channel_id, credential_id, error)
    else:  # a refusal of the request: the channel lives
        succeeded(channel_id, credential_id)


def has_other_credential(channel_id: int | None, credential_id: int | None) -> bool:
    """Whether the channel has another credential that opens, is enabled and does not cool down now. A call without any
    credential went out because none of them opens."""
    if channel_id is None or credential_id is None:
        return False
    others = sql.fetch(OTHERS.format(now=sql.now()), [channel_id, credential_id])
    return any(credentials.readable(ciphertext) is not None for (ciphertext,) in others)


OTHERS = """
SELECT ciphertext FROM catalog_credential WHERE channel_id = %s AND id <> %s AND disabled_at IS NULL
    AND (cooldown_until IS NULL OR cooldown_until <= {now})
"""


def unusable() -> tuple[frozenset[int], frozenset[int]]:
    """The channels, by id, that are disabled now: they have credentials, but none that is enabled; and that rest."""
    rows = sql.fetch(UNUSABLE.format(now=sql.now()))
    disabled = frozenset(channel_id for kind, channel_id in rows if kind == "disabled")
    return disabled, frozenset(channel_id for _, channel_id in rows) - disabled


def disabled_channels() -> frozenset[int]:
    return unusable()[0]


def name_of(channel_id: int) -> str:
    return Channel.objects.filter(id=channel_id).values_list("name", flat=True).first() or f"#{channel_id}"


NOTE = """
INSERT INTO catalog_channelhealth (channel_id, faults, cooldowns, unknown_total, last_kind, last_at)
SELECT id, %s, 0, %s, %s, {now} FROM catalog_channel WHERE id = %s
ON CONFLICT (channel_id) DO UPDATE SET faults = catalog_channelhealth.faults + excluded.faults,
    unknown_total = catalog_channelhealth.unknown_total + excluded.unknown_total,
    last_kind = excluded.last_kind, last_at = excluded.last_at
RETURNING faults
"""


def _note(channel_id: int, kind: ErrorKind, *, faults: int = 0, unknown: int = 0) -> int:
    """Count it; the channel's faults in a row, 0 for a channel that is gone."""
    rows = sql.fetch(NOTE.format(now=sql.now()), [faults, unknown, kind.value, channel_id])
    return int(rows[0][0]) if rows else 0


def _unreachable(channel_id: int) -> None:
    if _note(channel_id, ErrorKind.TRANSIENT, faults=1) >= FAULTS_IN_A_ROW:
        _rest(CHANNEL, channel_id, None, first=FAULT_SECONDS, longest=LONGEST_FAULT_SECONDS)


CHANNEL, CREDENTIAL = ("catalog_channelhealth", "channel_id"), ("catalog_credential", "id")
STANDING = "SELECT cooldowns, cooldown_until > {now} FROM {table} WHERE {key} = %s"
REST = """
UPDATE {table} SET cooldowns = %s, cooldown_until = {until}
WHERE {key} = %s AND (cooldown_until IS NULL OR cooldown_until < {until})
"""


def _rest(
    place: tuple[str, str],
    row_id: int,
    asked: float | None,
    *,
    first: float = BUSY_SECONDS,
    longest: float = LONGEST_BUSY_SECONDS,
) -> None:
    """Cool down for as long as the provider asked, else by the back-off. Many refusals at once are one cool-down."""
    table, key = place
    rows = sql.fetch(STANDING.format(now=sql.now(), table=table, key=key), [row_id])
    if not rows or (rows[0][1] and not asked):
        return
    times, is_resting = rows[0]
    seconds = min(asked, LONGEST_RETRY_AFTER_SECONDS) if asked else backoff(times, first=first, longest=longest)
    statement = REST.format(table=table, key=key, until=sql.later("%s"))
    if sql.run(statement, [times if is_resting else times + 1, seconds, row_id, seconds]):
        logger.info("%s %d cools down for %.1f s", "credential" if place == CREDENTIAL else "channel", row_id, seconds)


def _disable(channel_id: int, credential_id: int | None, error: UpstreamError) -> None:
    spoken = " ".join(redaction.clean(error.message).split())
    what = f"{error.kind.value} {error.code or error.http_status or ''}".strip()
    reason = f"{what}: {spoken}"[:200]
    if credential_id is not None and credential_probes.disable(credential_id, reason):
        logger.error("channel %s: credential %d is disabled: %s", name_of(channel_id), credential_id, reason)
