"""The fast path of submissions, PostgreSQL alone: one statement, its own transaction, writes what surely may be
written.

It locks the accounts, judges them by their own rows, and holds them for no round trip to us. It refuses nobody: what
it does not write goes the long way (`tasks/intake/submission.py`), which asks and counts.
"""

from collections.abc import Sequence

from django.db import connection

from common import sql
from common.database.database_retry import AWAY
from tasks.events import events
from tasks.intake import lost_commits, submission
from tasks.intake.drafts import Draft
from tasks.intake.submission import Created


def is_for(draft: Draft) -> bool:
    """Whether its account's row says all that has to be asked for it."""
    return sql.is_postgresql() and not draft.owes_callback and not draft.input_bytes


def submit(drafts: Sequence[Draft]) -> dict[str, Created]:
    """Write the drafts of each account that nobody else holds, that has no budgets, can pay for all of them, and is
    near no limit. What became of those that were written, by task id. All drafts are `is_for`.

    A draft whose Idempotency-Key was used since its admission is left out. One whose key is used meanwhile fails all,
    as do two with one key. Raises OutcomeUnknown where the answer was lost and none of the tasks is there: they may
    still come. Whatever else it raises, nothing was written.
    """
    connection.ensure_connection()
    try:
        created = sql.write_together(COLUMNS, [draft.row for draft in drafts], submission.insertions(), chosen=CHOSEN)
    except AWAY as error:
        created = lost_commits.found(drafts, error)
    if created:
        events.tell({"queued"})
    return {task_id: Created(task_id=task_id, created_at=at) for task_id, at in created}


COLUMNS = f"{submission.COLUMNS}, max_queued bigint"
# A locked row is read as it is now, also what was committed since the statement began. What an account has of live
# tasks at most stands for the queued ones of its keys, too (`tasks/intake/limits.py` counts them near a limit).
CHOSEN = """
asked AS MATERIALIZED (
    SELECT account, count(*) AS coming, sum(estimated) AS total, min(max_queued) AS max_queued
    FROM given GROUP BY account
),
free AS MATERIALIZED (
    SELECT id, balance_micros - held_micros AS available, max_queued, live_at_most FROM accounts_account
    WHERE id IN (SELECT account FROM asked) AND NOT has_budgets AND live_at_most IS NOT NULL
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
),
r AS MATERIALIZED (
    SELECT given.*, free.live_at_most AS live, NULL::text AS budget_day
    FROM given JOIN free ON free.id = given.account JOIN asked ON asked.account = given.account
    WHERE asked.total <= free.available
        AND free.live_at_most + asked.coming <= LEAST(free.max_queued, asked.max_queued)
        AND NOT EXISTS (
            SELECT 1 FROM tasks_task t WHERE t.key_id = given.key AND t.idempotency_key = given.idempotency_key
        )
)
"""
