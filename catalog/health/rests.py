"""The rows of what rests (`Rest`): refusals are noted as evidence, and where that is enough a rest begins.

All by the database's clock, and safe from any number of processes: each statement decides by the row as it is then.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from catalog.health.calls import ChannelCall
from catalog.models import Rest
from common import sql

TRIAL_SECONDS = 60
"""How long a call that tries what rested keeps others from trying it, too."""
MOST_ROWS = 200
"""Of one account at one channel. Beyond that its refusals are not noted, and nothing of it rests."""
KEPT_SECONDS = 2 * 86_400
LONGEST_SAID = 300

NOTE = """
INSERT INTO catalog_rest (channel_id, account_id, cause, credential_id, upstream_model, refusals, rests, last_at,
    by_account, by_task, said)
SELECT c.id, %s, %s, %s, %s, 1, 0, {now}, %s, %s, %s FROM catalog_channel c WHERE c.id = %s
    AND (SELECT count(*) FROM catalog_rest r WHERE r.channel_id = c.id AND r.account_id = %s) < {most}
ON CONFLICT (channel_id, account_id, cause, credential_id, upstream_model) DO UPDATE SET
    refusals = CASE WHEN catalog_rest.until IS NULL AND catalog_rest.last_at < {stale} THEN 1
        WHEN {counts} THEN catalog_rest.refusals + 1 ELSE catalog_rest.refusals END,
    last_at = excluded.last_at, by_account = excluded.by_account, by_task = excluded.by_task, said = excluded.said
RETURNING id, refusals, rests, until > {now} AS is_resting
"""
REST = """
UPDATE catalog_rest SET rests = %s, since = {now}, until = {until}, trial_until = NULL, trial_over = {no}
WHERE id = %s AND (until IS NULL OR until <= {now})
"""
LENGTHEN = "UPDATE catalog_rest SET until = {until} WHERE id = %s AND until > {now} AND until < {until}"
TRY = """
UPDATE catalog_rest SET trial_until = {later}, trial_by = %s, trial_over = {no} WHERE id = %s AND until <= {now}
    AND (trial_until IS NULL OR trial_until <= {now} OR (trial_over AND trial_by <> %s))
"""
END_TRIALS = "UPDATE catalog_rest SET trial_over = {yes} WHERE trial_by = %s AND id IN ({ids})"
CLEAR = """
DELETE FROM catalog_rest WHERE channel_id = %s AND account_id IN (0, %s) AND (
    (cause = 'model' AND upstream_model = %s) OR (cause = 'account' AND credential_id = %s)
    OR (cause = 'rate' AND credential_id = %s AND upstream_model IN ('', %s) AND (until IS NULL OR until <= {now})))
"""
OTHER_MODEL_RESTS = """
SELECT 1 AS found FROM catalog_rest WHERE channel_id = %s AND account_id = 0 AND cause = 'rate' AND credential_id = %s
    AND upstream_model NOT IN ('', %s) AND until > {now} LIMIT 1
"""
PRUNE = "DELETE FROM catalog_rest WHERE last_at < {old} AND (until IS NULL OR until < {old})"

# When a further refusal counts: each one; of another account; of another task; of another account or another task.
EACH = "1 = 1"
OF_ANOTHER_ACCOUNT = "catalog_rest.by_account <> excluded.by_account"
OF_ANOTHER_TASK = "catalog_rest.by_task <> excluded.by_task AND '' NOT IN (catalog_rest.by_task, excluded.by_task)"
OF_ANOTHER = f"({OF_ANOTHER_ACCOUNT} OR ({OF_ANOTHER_TASK}))"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """What would rest. `counts` says which further refusals are evidence, `window_seconds` how long one is."""

    cause: Rest.Cause
    account_id: int = 0
    credential_id: int = 0
    upstream_model: str = ""
    counts: str = EACH
    window_seconds: int = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A row after a refusal: how many count, how often it has rested in a row, and whether it does now."""

    id: int
    refusals: int
    rests: int
    is_resting: bool


def note(scope: Scope, call: ChannelCall, said: str) -> Noted | None:
    """Add a refusal to the evidence; None where the channel is gone, or its account has too many rows."""
    statement = NOTE.format(
        now=sql.now(), most=MOST_ROWS, counts=scope.counts, stale=sql.later(str(-scope.window_seconds))
    )
    values = [
        *(scope.account_id, scope.cause, scope.credential_id, scope.upstream_model),
        *(call.account_id, call.task_id, said[:LONGEST_SAID], call.channel_id, scope.account_id),
    ]
    row = next(iter(sql.records(statement, values)), None)
    return row and Noted(id=row.id, refusals=row.refusals, rests=row.rests, is_resting=bool(row.is_resting))


def rest(noted: Noted, seconds: float) -> bool:
    """Let it rest for so long, unless it does already; whether that began."""
    statement = REST.format(now=sql.now(), until=sql.later("%s"), no=sql.boolean(False))
    return bool(sql.run(statement, [noted.rests + 1, seconds, noted.id]))


def lengthen(noted: Noted, seconds: float) -> None:
    """Let what rests already rest for at least so long from now on."""
    sql.run(LENGTHEN.format(now=sql.now(), until=sql.later("%s")), [seconds, noted.id, seconds])


def has_other_model(call: ChannelCall) -> bool:
    """Whether another model rests now with the same credential, for its rate."""
    values = [call.channel_id, call.credential_id, call.upstream_model]
    return bool(sql.records(OTHER_MODEL_RESTS.format(now=sql.now()), values))


def begin_trial(rest_ids: Collection[int], account_id: int) -> bool:
    """Be the one call that tries these; False where another call does, where this account has just tried in vain, or
    they rest again."""
    statement = TRY.format(now=sql.now(), later=sql.later(str(TRIAL_SECONDS)), no=sql.boolean(False))
    begun = [sql.run(statement, [account_id, rest_id, account_id]) for rest_id in sorted(rest_ids)]
    return all(begun)


def end_trial(call: ChannelCall) -> None:
    """The call has decided nothing about what it tried: others may try it at once."""
    statement = END_TRIALS.format(yes=sql.boolean(True), ids=sql.places(call.tried))
    sql.run(statement, [call.account_id, *call.tried])


def clear(call: ChannelCall) -> None:
    """A call has succeeded: what counted against its model and its credential is forgotten, for its account and for
    all. A rest that was asked for runs its time all the same: the call may have gone out before."""
    values: list[Any] = [call.channel_id, call.account_id, call.upstream_model, call.credential_id]
    sql.run(CLEAR.format(now=sql.now()), [*values, call.credential_id, call.upstream_model])


def prune() -> int:
    """Delete what is long over."""
    return sql.run(PRUNE.format(old=sql.later(str(-KEPT_SECONDS))))
