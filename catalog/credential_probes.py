"""Credentials that the service disables by itself, and how they come back: by a probe, at growing distances.

What an operator disabled has no time for a probe, and is left alone. All by the database's clock.
"""

from common import sql

# 10 s, doubled with every probe since the last paid call that succeeded, up to an hour.
WAIT = "CASE WHEN {probes} < 9 THEN 10 * (1 << {probes}) ELSE 3600 END"

DISABLE = """
UPDATE catalog_credential SET disabled_at = {now}, reason = %s, probe_at = {probe}, cooldown_until = NULL
WHERE id = %s AND disabled_at IS NULL
"""
CLAIM = """
UPDATE catalog_credential SET probes = probes + 1, probe_at = {next}
WHERE id = (SELECT c.id FROM catalog_credential c JOIN catalog_channel h ON h.id = c.channel_id
    WHERE c.probe_at <= {now} AND c.disabled_at IS NOT NULL AND h.enabled ORDER BY c.probe_at LIMIT 1)
    AND probe_at <= {now}
RETURNING id
"""
FIRST = """
SELECT min(c.probe_at) AS probe_at FROM catalog_credential c JOIN catalog_channel h ON h.id = c.channel_id
WHERE c.disabled_at IS NOT NULL AND h.enabled
"""
RECOVER = """
UPDATE catalog_credential SET disabled_at = NULL, reason = '', probe_at = NULL, cooldown_until = NULL, cooldowns = 0
WHERE id = %s AND disabled_at IS NOT NULL AND probe_at IS NOT NULL
"""


def disable(credential_id: int, reason: str) -> bool:
    """Out of use until a probe or an operator brings it back; False where it already was."""
    probe = sql.later(WAIT.format(probes="probes"))
    return bool(sql.run(DISABLE.format(now=sql.now(), probe=probe), [reason, credential_id]))


def seconds_to_next() -> float | None:
    """Until a probe is due: 0 where one is now, None where no credential waits for one."""
    return sql.seconds_left(f"SELECT {sql.seconds_between(sql.now(), 'probe_at')} FROM ({FIRST}) AS next")


def claim_probe() -> int | None:
    """A credential whose probe is due, for this caller alone; its next probe is set already, should this one fail."""
    later = sql.later(WAIT.format(probes="(probes + 1)"))
    return next(iter(sql.column(CLAIM.format(now=sql.now(), next=later))), None)


def recover(credential_id: int) -> bool:
    """A probe succeeded: in use again. `probes` stays until a paid call succeeds, so that a credential which only
    answers probes waits longer each time. False where an operator has decided meanwhile."""
    return bool(sql.run(RECOVER, [credential_id]))
