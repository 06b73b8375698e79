"""What polled jobs answered, put into the books: failed ends, deadlines, and what comes after a task's end.

Results of running tasks are for `worker/deliver/delivery.py`; when to ask again is `worker/follow/polling.py`'s.
"""

import logging
from collections.abc import Iterable, Sequence, Set
from typing import Any

from adapters.base import ENDS_JOB, Done, ErrorKind, Pending, UpstreamError
from common.database.database_retry import insist
from common.documents import Unreadable
from common.logs import bind
from tasks import failures, lifecycle, paid_calls
from tasks.assets import assets
from tasks.due_calls import DueCall
from tasks.lifecycle import Ending
from tasks.paid_calls import CallEnd
from worker.buy.failed_calls import described
from worker.deliver import copies, delivery
from worker.deliver.copies import CallResult
from worker.follow import fan_in

logger = logging.getLogger(__name__)
LATE_FOR_SECONDS = 48 * 3600.0

Answer = Pending | Done | UpstreamError


def is_final(answer: Answer) -> bool:
    """Whether the job has ended at the provider."""
    return isinstance(answer, Done) or (isinstance(answer, UpstreamError) and answer.kind in ENDS_JOB)


def as_fault(error: UpstreamError) -> UpstreamError:
    """The same, saying nothing about any one job, whatever its kind."""
    return error.as_kind(ErrorKind.TRANSIENT)


def doubted(call: DueCall, answer: Answer) -> Answer:
    """A result that is missing is asked for once more: some providers end a job a moment before they show its files."""
    if not isinstance(answer, UpstreamError) or answer.kind is not ErrorKind.EMPTY_RESULT:
        return answer
    return answer if call.faults or call.is_last else as_fault(answer)


def newly_finished(answered: Iterable[tuple[DueCall, Answer]]) -> list[int]:
    """The calls, by id, whose live tasks hear of their results for the first time."""
    return [call.id for call, answer in answered if isinstance(answer, Done) and not (call.is_late or call.is_finished)]


def settle(answered: Sequence[tuple[DueCall, Answer]]) -> list[DueCall]:
    """Everything but a result to copy. Returns the calls whose jobs nobody waits for any more: to be cancelled."""
    pending = {call.id for call, answer in answered if not is_final(answer)}
    live = [(call, answer) for call, answer in answered if not call.is_late and not one_of_many(call, answer, pending)]
    # One a task: its other overdue calls become late with it.
    endings = {ending.task_id: ending for call, answer in live if (ending := ending_of(call, answer))}
    ended = insist(lifecycle.end, list(endings.values())) if endings else frozenset()
    orphaned = [call for call, answer in live if call.task_id in ended and not is_final(answer)]
    orphaned += [call for call, answer in answered if call.is_late and follow_late(call, answer)]
    return [call for call in orphaned if not call.is_finished]


def one_of_many(call: DueCall, answer: Answer, pending: Set[int]) -> bool:
    """Whether this answer leaves the task to the call's siblings: it has failed and they have not, or it was asked for
    the last time and one of them was not, with it (`pending`). Whether the provider has finished that one, its own last
    poll tells, which may be under way; where it never comes, the janitor ends the task."""
    if not call.siblings:
        return False
    if isinstance(answer, UpstreamError) and is_final(answer):
        return bool(insist(paid_calls.drop, ended(call, described(answer)), call.task_id))
    return call.is_last and not is_final(answer) and bool(insist(fan_in.others, call) - pending)


def ending_of(call: DueCall, answer: Answer) -> Ending | None:
    """The end of the task that this answer means: failed at the provider, or not over after its last poll."""
    with bind(task_id=call.task_id, attempt=call.attempt):
        if isinstance(answer, UpstreamError) and is_final(answer):
            logger.warning("the provider ended the job: %s", answer)
            failure = failures.OF_KIND[answer.kind]
            return Ending.failed(call.task_id, call.attempt, failure, ended(call, described(answer)))
    if is_final(answer) or not call.is_last:
        return None
    if call.is_finished:
        return Ending.uncopied(call.task_id, call.attempt, call.id)
    return Ending.timed_out(call.task_id, call.attempt, call.id)


def ended(call: DueCall, outcome: dict[str, Any]) -> CallEnd:
    return CallEnd(id=call.id, state="done", outcome=outcome)


def follow_late(call: DueCall, answer: Answer) -> bool:
    """The task has ended and is never charged; what its job delivers after all is our loss. True: still not over."""
    if isinstance(answer, Done):
        _lose(call, copies.result_of(call, answer))
    elif is_final(answer) or call.age_seconds > LATE_FOR_SECONDS:
        outcome = described(answer) if isinstance(answer, UpstreamError) else {"kind": "given_up"}
        insist(paid_calls.close, ended(call, outcome))
    return isinstance(answer, Pending)


def _lose(call: DueCall, result: CallResult) -> None:
    try:
        insist(delivery.lose, insist(delivery.terms_of_call, call), result)
    except Unreadable as error:  # nobody can tell its cost
        logger.error("call %d of task %s is lost: %s", call.id, call.task_id, error)
        insist(paid_calls.close, CallEnd(id=call.id, state="lost", outcome={"kind": "late", "message": str(error)}))
        assets.discard(result.stored)
