"""Step 11, the paid calls themselves: one, or several side by side where a protocol has no count.

What a provider answers is recorded before anything else happens with it, together with the answers of other calls: a
handle, or the addresses of a result. The bytes of a single result, which only this process has, are stored at once and
recorded with the task's end; where that might take longer than the task has, `hand_over` records before that the
provider has finished.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from adapters.base import Accepted, Connection, Done, ErrorKind, NothingSent, UpstreamError
from catalog.health import outcomes, probing
from catalog.health.calls import ChannelCall
from common import swallowed
from common.database.database_retry import insist, release_connection
from common.logs import bind
from tasks import paid_calls
from tasks.due_calls import AFTER_DEADLINE_SECONDS
from tasks.paid_calls import CallAnswer, Intended
from worker import threads
from worker.buy import failed_calls, lookup
from worker.buy.failed_calls import Miss
from worker.buy.jobs import Purchase
from worker.deliver import copies, delivery
from worker.deliver.copies import CallResult
from worker.deliver.delivery import NotStored, Underway, tell
from worker.threads import BatchedStep

logger = logging.getLogger(__name__)
PRESSING_SECONDS = 300.0  # longer than our storage takes to take a result, or to refuse it


def make(purchase: Purchase) -> Underway | None:
    """All the calls, and then what those mean that brought nothing. Returns what is still under way."""
    misses: list[Miss] = []
    first, *others = purchase.calls
    siblings = [
        threading.Thread(target=_pay_sibling, args=(purchase, call, misses), name="paid call", daemon=True)
        for call in others
    ]
    for sibling in siblings:
        sibling.start()
    underway = pay(purchase, first, misses)
    if siblings:
        release_connection()  # they may need it
    for sibling in siblings:
        sibling.join()
    if misses:
        judge(purchase, misses)
    if underway is None:
        return None
    return replace(underway, anew=partial(deliver_anew, purchase, first, underway.anew))


def deliver_anew(purchase: Purchase, call: Intended, anew: Callable[[], None]) -> None:
    """Where the end that was under way did not come."""
    try:
        anew()
    except Exception as error:
        judge(purchase, [_miss(purchase, call, error)])


def judge(purchase: Purchase, misses: list[Miss]) -> None:
    """Decide what the calls mean that brought nothing."""
    misses.sort(key=lambda miss: miss.call_id)
    failed_calls.judge(purchase.job, misses, has_others=len(misses) < len(purchase.calls))


def _pay_sibling(purchase: Purchase, call: Intended, misses: list[Miss]) -> None:
    task = purchase.job.task
    try:
        with bind(task_id=task.id, attempt=task.attempt):
            pay(purchase, call, misses)
    finally:
        release_connection()


def pay(purchase: Purchase, call: Intended, misses: list[Miss]) -> Underway | None:
    """One call and the record of its answer; what brought nothing is added to `misses`."""
    connection = replace(purchase.connection, reference=call.reference)
    try:
        return record(purchase, call.id, submit(purchase, connection), connection)
    except Exception as error:
        misses.append(_miss(purchase, call, error))
        return None


def _miss(purchase: Purchase, call: Intended, fault: Exception) -> Miss:
    """What an exception in place of an answer, or of its delivery, says of the call."""
    match fault:
        case UpstreamError():
            return Miss(call_id=call.id, credential_id=purchase.credential_id, error=fault)
        case NothingSent():
            logger.warning("nothing was bought: %s", fault)
            return Miss(call_id=call.id, unpaid=str(fault))
        case NotStored():
            return Miss(call_id=call.id, unstored=str(fault))
        case _:
            swallowed.note("worker.paid_call")
            return Miss(call_id=call.id, broken=repr(fault)[:500])


def submit(purchase: Purchase, connection: Connection) -> Accepted | Done:
    """The provider's answer; the channel's health hears of a refusal. Raises UpstreamError, NothingSent."""
    job = purchase.job
    channel = job.route.channel
    if time.monotonic() >= job.ends_at:  # the database was away since it was read, or no thread was left
        raise NothingSent("the task's time was over before its paid call")
    release_connection()
    try:
        return job.adapter.submit(job.upstream, connection)
    except UpstreamError as error:
        logger.warning("channel %s answered %s", channel.name, error)
        if error.maybe_accepted and (found := lookup.ask(job.adapter, job.upstream, connection)):
            return found
        if purchase.refusals.is_news(error.kind):
            tell(outcomes.refused, replace(purchase.through, task_id=job.task.id), error)
        if error.kind is ErrorKind.AUTH:
            tell(probing.confirm, purchase.credential_id)
        raise


def record(purchase: Purchase, call_id: int, answer: Accepted | Done, connection: Connection) -> Underway | None:
    """A handle, or the URLs of a result, are stored before anything else, so that a crash does not lose them. Bytes are
    delivered from here, or stored until the siblings have ended."""
    if isinstance(answer, Accepted):
        heard(purchase, call_id, handle=answer.handle, poll_after=answer.poll_after)()
    elif all(output.url for output in answer.outputs):
        heard(purchase, call_id, result=copies.of_urls(answer))()
    else:
        return hand_over(purchase, CallResult(call_id=call_id, done=answer), connection)
    return None


def hand_over(purchase: Purchase, result: CallResult, connection: Connection) -> Underway | None:
    """Deliver the bytes of an answer, which nobody else has. That the provider has finished is recorded before the task
    ends. Usually it is recorded with the end. Where the copy may outlast the deadline, it is recorded at once."""
    job, terms, is_alone = purchase.job, purchase.job.terms, len(purchase.calls) == 1
    is_pressing = not is_alone or job.ends_at - time.monotonic() < PRESSING_SECONDS
    is_waited_for = heard(purchase, result.call_id) if is_pressing else cache(lambda: heard(purchase, result.call_id)())

    def ends_at() -> float:
        return job.ends_at + AFTER_DEADLINE_SECONDS if is_waited_for() else 0.0  # at once: it is our loss

    tries = copies.tries(result, job.adapter, connection, ends_at=ends_at, most=terms.agreed.count_of_call)
    if is_alone:
        return delivery.deliver_now(
            terms, result, tries, through=purchase.through, note=partial(heard, purchase, result.call_id)
        )
    insist(paid_calls.keep, result.call_id, delivery.staged(result, tries))
    return None


def heard(purchase: Purchase, call_id: int, **answer: Any) -> Callable[[], bool]:
    """Record an answer, together with those that come meanwhile. What is returned waits until that is done, and tells
    whether the task still waits for it."""
    recorded = CallAnswer(call_id=call_id, task_id=purchase.job.task.id, **answer)
    return partial(threads.result, answers.add(Heard(answer=recorded, through=purchase.through)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """An answer, and the call that it came by."""

    answer: CallAnswer
    through: ChannelCall


def record_together(group: Sequence[Heard]) -> list[bool]:
    """Whether the task of each of these calls still waits for it. Each channel's health hears of it once."""
    waited_for = paid_calls.record([each.answer for each in group])
    tell(outcomes.succeeded, {each.through for each in group})
    return [each.answer.call_id in waited_for for each in group]


answers = BatchedStep("answers", record_together)
