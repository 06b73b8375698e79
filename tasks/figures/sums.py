"""What terminal events say, added up: the one statement that folding, pages and the proof of the figures share.

A sum has the columns `COLUMNS`. Nothing that it reads of an ended task changes any more, but for a channel that is
deleted. The own cost of a task is that of its calls that are done: they were closed with the task. What became known of
a call after the end of its task, late or lost, is no part of it.
"""

from common import sql
from tasks.models import ENDED

BOUNDS = (1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1_200, 3_600)
"""Upper ends of the buckets of durations, from submission to end, in seconds. One more bucket has what took longer."""
KEY = ("at", "model_name", "modality", "channel_id", "outcome", "bucket")
ADDED = ("tasks", "earned_micros", "cost_micros", "waited_ms")
COLUMNS = (*KEY, *ADDED)

# Of a few events: by index. Of all: one pass over the calls.
COST_OF_ONE = "(SELECT sum(c.cost_micros) FROM tasks_call c WHERE c.task_id = t.id AND c.state = 'done')"
COSTS = "(SELECT task_id, sum(cost_micros) AS micros FROM tasks_call WHERE state = 'done' GROUP BY task_id)"
TASKS = "JOIN tasks_task t ON t.id = e.task_id"
# PostgreSQL would rather read all tasks than two thousand of thirty thousand by their index.
TASK_OF_ONE = "CROSS JOIN LATERAL (SELECT * FROM tasks_task WHERE id = e.task_id LIMIT 1) t"
ENDS = f"""
SELECT {{at}} AS at, t.model_name, t.modality, COALESCE(t.channel_id, 0) AS channel_id, e.status AS outcome,
    {{bucket}} AS bucket, count(*) AS tasks, CAST(sum(t.actual_micros) AS bigint) AS earned_micros,
    CAST(COALESCE(sum({{cost}}), 0) AS bigint) AS cost_micros, CAST(sum({{waited}}) AS bigint) AS waited_ms
FROM {{events}} e {{tasks}} {{joined}}
WHERE e.status IN ({sql.words(ENDED)}) GROUP BY 1, 2, 3, 4, 5, 6
"""


def of_events(events: str) -> str:
    """The sums, by minute, of the events that a FROM item with id, task_id, status and at has."""
    tasks = TASK_OF_ONE if sql.is_postgresql() else TASKS
    return _ends(at=minute("e.at"), events=events, tasks=tasks, cost=COST_OF_ONE, joined="")


def of_all_until(cursor: str) -> str:
    """The sums, by day as text, of all events up to an id, an SQL expression; for whoever reads all anyway."""
    return _ends(
        at=sql.utc_day("e.at"),
        events=f"(SELECT * FROM tasks_taskevent WHERE id <= {cursor})",
        tasks=TASKS,
        cost="k.micros",
        joined=f"LEFT JOIN {COSTS} k ON k.task_id = t.id",
    )


def _ends(**parts: str) -> str:
    waited = sql.seconds_between("t.created_at", "COALESCE(t.started_at, t.finished_at)")
    took = sql.seconds_between("t.created_at", "t.finished_at")
    bucket = _bucket(took, 0, len(BOUNDS))
    return ENDS.format(bucket=bucket, waited=f"CAST(round(1000 * ({waited})) AS bigint)", **parts)


def _bucket(took: str, first: int, last: int) -> str:
    """The number of the bucket, of these; halved again and again, since PostgreSQL computes `took` for each bound."""
    if first == last:
        return str(first)
    middle = (first + last) // 2
    below, above = _bucket(took, first, middle), _bucket(took, middle + 1, last)
    return f"CASE WHEN {took} < {BOUNDS[middle]} THEN {below} ELSE {above} END"


def minute(moment: str) -> str:
    """The minute of a moment, as an SQL expression of one that compares with stored moments."""
    return f"date_trunc('minute', {moment})" if sql.is_postgresql() else f"substr({moment}, 1, 16) || ':00.000'"
