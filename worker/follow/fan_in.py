"""Where an attempt buys with several calls, one of them delivers the results of all.

That is the first live call of the attempt, once every other has its result or has failed. From the deadline on it waits
only for those that the provider has finished, whose bytes are still on their way to our storage.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from adapters.base import Done
from common import sql
from common.documents import Unreadable
from tasks import due_calls, paid_calls, polls
from tasks.due_calls import DueCall, Reschedule
from worker.deliver import copies
from worker.deliver.copies import CallResult

WAIT_SECONDS = 0.5


def ready(call: DueCall, done: Done) -> list[CallResult]:
    """What is to be delivered now that this call is done; empty while others are waited for, or deliver it."""
    if not call.siblings:
        return [copies.result_of(call, done)]
    if call.result is None:
        paid_calls.keep(call.id, copies.of_urls(done))
        return []
    live = results(call.task_id, call.bought_in, finished_only=call.is_overdue)
    made = list(_readable(live))
    if made and made[0].call_id == call.id and (call.is_last or len(made) == len(live)):
        return made
    polls.reschedule([Reschedule.of(call, WAIT_SECONDS)])
    return []


def others(call: DueCall) -> frozenset[int]:
    """The siblings of this call, by id, that the provider has finished, or that are still to be asked for."""
    return due_calls.hopeful(call.task_id, call.bought_in) - {call.id}


def _readable(results: Mapping[int, Mapping[str, Any] | None]) -> Iterator[CallResult]:
    """What there is of them. One that cannot be read is as good as missing; its own poll says so."""
    for call_id, row in results.items():
        with suppress(Unreadable):
            if row is not None:
                yield copies.read(call_id, row)


def results(task_id: str, bought_in: int, *, finished_only: bool = False) -> dict[int, Mapping[str, Any] | None]:
    """What each open call that one attempt of a task bought with has made, by id in the order of their positions; of
    those that the provider has finished, a result may still be on its way to our storage."""
    which = "AND finished_at IS NOT NULL" if finished_only else ""
    rows = sql.records(
        "SELECT id, result FROM tasks_call WHERE task_id = %s AND attempt = %s "
        f"AND {paid_calls.OPEN} {which} ORDER BY position",
        [task_id, bought_in],
    )
    return {row.id: sql.as_document(row.result) for row in rows}
