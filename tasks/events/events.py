"""Writes one row for each change of a task's status; the stream, the waits and the history read them."""

from collections.abc import Iterable, Mapping
from functools import cache

from common import sql
from common.concurrency import wakeups
from common.concurrency.wakeups import Topic
from common.database import writes
from common.database.writes import Write
from tasks.models import ENDED

TOPICS: Mapping[str, tuple[Topic, ...]] = {
    "queued": ("queued", "events"),
    "running": ("events",),
    **dict.fromkeys(ENDED, ("freed", "events")),
}
"""What a change to each status wakes (`wakeups.tell`), once the transaction that writes it is committed."""


def record(transitions: Iterable[tuple[str, int, str, int]]) -> None:
    """Append (task id, key id, status, attempt) rows, inside the caller's transaction. One statement."""
    writes.run(recorded(transitions))


def recorded(transitions: Iterable[tuple[str, int, str, int]]) -> list[Write]:
    """The write that does it, to be run in the present transaction."""
    rows = list(transitions)
    wakeups.tell(*{topic for _, _, status, _ in rows for topic in TOPICS[status]})
    return writes.of_rows(
        recording(task="r.id", key="r.key", status="r.status", attempt="r.attempt"),
        "id text, key bigint, status text, attempt bigint",
        [{"id": i, "key": key, "status": status, "attempt": n} for i, key, status, n in rows],
    )


@cache
def recording(*, task: str, key: str, status: str, attempt: str) -> str:
    """The write (`writes.write_together`) that appends a transition of each of some tasks, given these as SQL."""
    return (
        "INSERT INTO tasks_taskevent (task_id, key_id, status, attempt, at) "
        f"SELECT {task}, {key}, {status}, {attempt}, {sql.now()} FROM {{rows}} WHERE true"
    )
