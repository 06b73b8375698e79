"""The statements of relayed calls: what is written together when they are reserved and when they end."""

from functools import cache

from billing import ledger
from common import sql
from common.database import time_limits
from common.token_usage import COUNTS

COUNT_COLUMNS = ", ".join(f"{name} bigint" for name in COUNTS)
NEW_COLUMNS = (
    "id text, account bigint, key bigint, group_id bigint, process text, model text, dialect text, channel bigint, "
    "is_stream bool, estimated bigint, price json, request_id text, budget_day text"
)
TOLD_COLUMNS = (
    "id text, charge bigint, outcome text, is_estimated bool, is_loss bool, flags json, overrun bigint, "
    f"channel bigint, attempts json, http_status bigint, {COUNT_COLUMNS}"
)
ENDED_COLUMNS = f"account bigint, key bigint, model text, day text, {TOLD_COLUMNS}"


@cache
def reserving() -> tuple[str, ...]:
    """Calls, holds and accounts, of NEW_COLUMNS; the first returns the ids."""
    return (
        INSERT_CALLS.format(now=sql.now(), rows="{rows}"),
        *ledger.reserving(
            reference="r.id", account="r.account", key="r.key", amount="r.estimated", budget_day="r.budget_day"
        ),
    )


@cache
def ending() -> tuple[str, ...]:
    """Make the writes of calls and aggregates, of ENDED_COLUMNS, that go with those of `ledger.settling`."""
    sums = ", ".join(f"CAST(sum(r.{name}) AS bigint)" for name in COUNTS)
    added = ", ".join(f"{name} = u.{name} + excluded.{name}" for name in COUNTS)
    day = "CAST(r.day AS date)" if sql.is_postgresql() else "r.day"
    return (
        END_CALLS.format(now=sql.now(), counts=", ".join(f"{name} = r.{name}" for name in COUNTS), rows="{rows}"),
        ADD_UP.format(day=day, names=", ".join(COUNTS), sums=sums, added=added, rows="{rows}"),
    )


@cache
def free() -> str:
    """Of the calls that `given` ends: the open ones that nobody else holds, as `chosen` (`writes.Rows`)."""
    bound = sql.lock_timeout(time_limits.GROUP_LOCK_SECONDS)
    return FREE.format(day=day(), hold_state=sql.unindexed("h.state"), bound=bound)


def day() -> str:
    """The UTC day on which a call began, as the SQL expression of a text: that of its aggregate."""
    return sql.utc_day("created_at")


OPEN = """
SELECT id, account_id, key_id, model, {day} AS day FROM billing_relayedcall
WHERE id IN ({ids}) AND state = 'open' ORDER BY id{lock}
"""
# Their rows say the rest. Accounts with budgets are left to `end`: sums that are kept only since this statement has
# begun would be missing in what it sees.
FREE = """
open AS MATERIALIZED (
    SELECT id, account_id AS account, key_id AS key, model, {day} AS day
    FROM billing_relayedcall WHERE id IN (SELECT id FROM given) AND state = 'open'
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
),
free AS MATERIALIZED (
    SELECT id, {bound} FROM accounts_account WHERE id IN (SELECT account FROM open) AND NOT has_budgets
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
),
chosen AS MATERIALIZED (
    SELECT given.*, open.account, open.key, open.model, open.day
    FROM given JOIN open ON open.id = given.id JOIN free ON free.id = open.account
    JOIN billing_hold h ON h.reference = given.id AND {hold_state} = 'open'
)
"""
# What joins no process that is alive is missing among what it returns, and then all of it is undone.
INSERT_CALLS = """
INSERT INTO billing_relayedcall (id, account_id, key_id, group_id, process, model, dialect, channel_id, is_stream,
    state, created_at, estimated_micros, price, request_id)
SELECT r.id, r.account, r.key, r.group_id, r.process, r.model, r.dialect, r.channel, r.is_stream,
    'open', {now}, r.estimated, r.price, r.request_id
FROM {rows} JOIN billing_webprocess p ON p.id = r.process AND p.stopped_at IS NULL WHERE true RETURNING id
"""
# They are open, for they are locked. Said again, it leads to the small index of open calls also where the table was
# never analysed and looks small: else the plan that reads all of it would stay while it grows.
END_CALLS = """
UPDATE billing_relayedcall SET state = CASE WHEN r.charge IS NULL THEN 'released' ELSE 'settled' END,
    ended_at = {now}, actual_micros = r.charge, outcome = r.outcome, is_estimated = r.is_estimated,
    is_loss = r.is_loss, flags = r.flags, overrun_micros = r.overrun, channel_id = r.channel,
    attempts = r.attempts, http_status = r.http_status, {counts}
FROM {rows} WHERE billing_relayedcall.id = r.id AND billing_relayedcall.state = 'open'
"""
ADD_UP = """
INSERT INTO billing_relayusage AS u (key_id, day, model, calls, cost_micros, {names})
SELECT r.key, {day}, r.model, count(*), CAST(sum(r.charge) AS bigint), {sums}
FROM {rows} WHERE r.charge IS NOT NULL GROUP BY r.key, r.day, r.model
ON CONFLICT (key_id, day, model) DO UPDATE SET calls = u.calls + excluded.calls,
    cost_micros = u.cost_micros + excluded.cost_micros, {added}
"""
