"""Open calls whose web process is dead: what was noted of them decides how they end."""

from typing import Any

from django.conf import settings

from billing.relayed_calls import CallEnding
from common import sql
from common.token_usage import COUNTS, TokenUsage

BATCH = 500
PROCESS_DIED = "process_died"
LOST = """
billing_relayedcall c LEFT JOIN billing_webprocess p ON p.id = c.process
WHERE c.state = 'open' AND (p.id IS NULL OR p.stopped_at IS NOT NULL)
"""
COLUMNS = ", ".join(f"c.{name}" for name in COUNTS)
STATEMENT = f"SELECT c.id, c.account_id, c.channel_id, c.noted_micros, {COLUMNS} FROM {LOST} ORDER BY c.id LIMIT %s"


def seconds_to_next() -> float | None:
    """Until a web process falls silent: 0 where calls are lost, None where there is no process."""
    silence = sql.seconds_between(sql.now(), sql.after("min(heartbeat_at)", str(settings.WORKER_LEASE)))
    return sql.seconds_left(
        f"SELECT CASE WHEN EXISTS (SELECT 1 FROM {LOST}) THEN 0.0 ELSE {silence} END "
        "FROM billing_webprocess WHERE stopped_at IS NULL"
    )


def endings() -> list[CallEnding]:
    """Those that are due, a batch at most. Where usage was noted it is charged, as far as it was seen. Else the call is
    released: the provider may bill it, and nobody pays."""
    return [_ending(row) for row in sql.records(STATEMENT, [BATCH])]


def _ending(row: Any) -> CallEnding:
    is_noted = row.noted_micros is not None
    return CallEnding(
        call_id=row.id,
        account_id=row.account_id,
        actual_micros=row.noted_micros,
        usage=TokenUsage(**{name: getattr(row, name) for name in COUNTS}) if is_noted else None,
        outcome=PROCESS_DIED,
        is_estimated=is_noted,
        is_loss=not is_noted,
        channel_id=row.channel_id,
    )
