"""Credentials that the service suspects, and those that it disables by itself: both wait for a probe, which confirms
the one and brings back the other, at growing distances.

What an operator disabled has no time for a probe, and is left alone. All by the database's clock.
"""

from common import sql

# 10 s, doubled with every probe since the last paid call that succeeded, up to an hour.
WAIT = "CASE WHEN {probes} < 9 THEN 10 * (1 << {probes}) ELSE 3600 END"
CLAIM_SECONDS = 30
"""How long whoever makes the probe of a suspected credential has for it, until another may."""
CALM_SECONDS = 60
"""How long a probe that a credential has passed speaks for it."""

SUSPECT = """
UPDATE catalog_credential SET suspected_at = {now}, reason = %s,
    probe_at = CASE WHEN probed_at > {calm} THEN {after} ELSE {now} END
WHERE id = %s AND disabled_at IS NULL AND suspected_at IS NULL
"""
CLEARED = """
UPDATE catalog_credential SET probes = 0, suspected_at = NULL, reason = '', probe_at = NULL
WHERE id = %s AND disabled_at IS NULL AND (probes > 0 OR suspected_at IS NOT NULL)
"""
DISABLE = """
UPDATE catalog_credential SET disabled_at = {now}, reason = %s, probe_at = {probe}, suspected_at = NULL
WHERE id = %s AND disabled_at IS NULL
"""
CLAIM = """
UPDATE catalog_credential SET probes = probes + {is_disabled},
    probe_at = CASE WHEN disabled_at IS NULL THEN {claimed} ELSE {next} END
WHERE id = {which} AND probe_at <= {now}
RETURNING id
"""
FIRST_DUE = """
(SELECT c.id FROM catalog_credential c JOIN catalog_channel h ON h.id = c.channel_id
    WHERE c.probe_at <= {now} AND h.enabled ORDER BY c.probe_at LIMIT 1)
"""
FIRST = """
SELECT min(c.probe_at) AS probe_at FROM catalog_credential c JOIN catalog_channel h ON h.id = c.channel_id
WHERE h.enabled
"""
RECOVER = """
UPDATE catalog_credential SET disabled_at = NULL, reason = '', probe_at = NULL
WHERE id = %s AND disabled_at IS NOT NULL AND probe_at IS NOT NULL
"""
PASSED = """
UPDATE catalog_credential SET probed_at = {now}, suspected_at = NULL, reason = '', probe_at = NULL
WHERE id = %s AND disabled_at IS NULL
"""


def suspect(credential_id: int, reason: str) -> bool:
    """A provider has refused it: a probe is to tell. Whether that is new. It stays in use until then."""
    calm, after = sql.later(str(-CALM_SECONDS)), sql.after("probed_at", str(CALM_SECONDS))
    statement = SUSPECT.format(now=sql.now(), calm=calm, after=after)
    return bool(sql.run(statement, [reason, credential_id]))


def cleared(credential_id: int | None) -> None:
    """A call with it has succeeded: no suspicion is left, and the back-off of its probes begins anew."""
    if credential_id is not None:
        sql.run(CLEARED, [credential_id])


def disable(credential_id: int, reason: str) -> bool:
    """Out of use until a probe or an operator brings it back; False where it already was."""
    probe = sql.later(WAIT.format(probes="probes"))
    return bool(sql.run(DISABLE.format(now=sql.now(), probe=probe), [reason, credential_id]))


def seconds_to_next() -> float | None:
    """Until a probe is due: 0 where one is now, None where no credential waits for one."""
    return sql.seconds_left(f"SELECT {sql.seconds_between(sql.now(), 'probe_at')} FROM ({FIRST}) AS next")


def claim_due() -> int | None:
    """A credential whose probe is due, for this caller alone; its next probe is set already, should this one fail."""
    return _claim(FIRST_DUE.format(now=sql.now()), [])


def claim(credential_id: int) -> bool:
    """Whether the probe of this credential is due, and this caller alone is to make it."""
    return _claim("%s", [credential_id]) is not None


def _claim(which: str, values: list[int]) -> int | None:
    statement = CLAIM.format(
        which=which,
        is_disabled="CASE WHEN disabled_at IS NULL THEN 0 ELSE 1 END",
        claimed=sql.later(str(CLAIM_SECONDS)),
        next=sql.later(WAIT.format(probes="(probes + 1)")),
        now=sql.now(),
    )
    return next(iter(sql.column(statement, values)), None)


def recover(credential_id: int) -> bool:
    """A probe succeeded: in use again. `probes` stays until a paid call succeeds, so that a credential which only
    answers probes waits longer each time. False where an operator has decided meanwhile."""
    return bool(sql.run(RECOVER, [credential_id]))


def passed(credential_id: int) -> None:
    """A suspected credential has passed its probe, and is left as it was."""
    sql.run(PASSED.format(now=sql.now()), [credential_id])
