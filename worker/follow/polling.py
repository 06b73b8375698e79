"""Step 11 for asynchronous jobs: which polls are due, and asking for them in batches. A task is only a row then.

`worker/follow/schedule.py` knows when each is due. What the answers mean is for `worker/follow/poll_results.py`. A job
that is not over costs a share of two reads and no write, and the thread that asks for it needs no database connection.
"""

import json
import logging
import math
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from adapters import registry
from adapters.base import Adapter, Connection, Done, ErrorKind, Pending, UpstreamError
from catalog import connections
from common import backoff, swallowed, urls
from common.database.database_retry import AWAY, insist, release_connection
from common.documents import Unreadable
from common.logs import bind
from common.outgoing.kept_connections import kept
from tasks import due_calls, paid_calls, polls
from tasks.due_calls import LOOK_SECONDS, DueCall, Reschedule, news
from tasks.paid_calls import CallEnd
from worker.deliver import copies, delivery
from worker.deliver.copies import CallResult
from worker.follow import fan_in, poll_results
from worker.follow.poll_results import Answer
from worker.follow.schedule import Schedule
from worker.threads import ThreadPool

logger = logging.getLogger(__name__)
POLL_SECONDS = 20.0
LAST_POLL_SECONDS = 10.0  # the janitor waits longer
COPY_SECONDS = 900.0
LAST_COPY_SECONDS = 30.0  # of the copy that begins when its time is over; the janitor waits longer
CANCEL_SECONDS = 10.0
LATE_POLL_SECONDS = 30.0
UNUSABLE_TRIES = 6  # of a result that cannot be used, or is gone
NO_CREDENTIAL = "no_credential"
PAGE = 2_000
POLLS_PER_CHANNEL = 32
COPIES_PER_CHANNEL = 8
WHOLE_LOOK_SECONDS = 30.0
TOGETHER_SECONDS = 1.0  # a poll of many jobs waits at most so long, or a tenth of its interval, for those due then

Channel = tuple[int | None, str]
Way = tuple[Adapter, Connection]
Reached = tuple[Channel, int | None, str, str]
"""The channel, the credential, the adapter and its options."""


class Polling:
    """Follows the accepted calls of one worker process. Channels have seats of their own: a hanging one holds up
    nobody but itself."""

    def __init__(self, worker_id: str) -> None:
        self.worker_id = worker_id
        self.schedule = Schedule()
        self._polls: dict[Channel, ThreadPool] = {}
        self._copies: dict[Channel, ThreadPool] = {}
        self._progress: deque[Reschedule] = deque()
        self._looked_at = self._looked_at_all = -math.inf
        self._news = 0

    def tick(self) -> bool:
        """Start what is due; True if anything was."""
        self.show_progress()
        if news.number != self._news or time.monotonic() >= self._looked_at + LOOK_SECONDS:
            self.look()
        taken = self.schedule.take(PAGE)
        due = self._read(taken) if taken else []
        ways: dict[Reached, Way | None] = {}
        for key, batch in batches(due):
            if key not in ways:
                ways[key] = way_to(batch[0])
            seats(self._polls, batch[0], POLLS_PER_CHANNEL, "poll").start(self._poll, batch, ways[key])
        return bool(due)

    def look(self) -> None:
        """Look into the rows for calls to follow: those that were written since the last look, and now and then all."""
        now, number = time.monotonic(), news.number
        are_all = now >= self._looked_at_all + WHOLE_LOOK_SECONDS
        since = None if are_all else now - self._looked_at
        self.schedule.learn(due_calls.followed(self.worker_id, since_seconds=since), are_all=are_all)
        self._looked_at, self._news = now, number
        if are_all:
            self._looked_at_all = now

    def show_progress(self) -> None:
        """Write what polls have told of it since; what is lost with this process the next poll tells again."""
        told = [self._progress.popleft() for _ in range(len(self._progress))]
        polls.show_progress(told)

    def _read(self, taken: Sequence[int]) -> list[DueCall]:
        """The calls among these that are due by their rows, too; the others are put back, or forgotten."""
        try:
            rows = due_calls.read(self.worker_id, taken)
        except BaseException:
            for call_id in taken:
                self.schedule.put(call_id, 0.0)
            raise
        self.schedule.forget(set(taken) - {call.id for call in rows})
        for call in rows:
            if call.wait_seconds > 0:
                self.schedule.put(call.id, call.wait_seconds)
        return [call for call in rows if call.wait_seconds <= 0]

    def close(self, seconds: float) -> None:
        """Start nothing more, and wait so long for what is being done."""
        ends_at = time.monotonic() + seconds
        every = [*self._polls.values(), *self._copies.values()]
        for each in every:
            each.clear()
        for each in every:
            each.wait_idle(max(0.0, ends_at - time.monotonic()))
        kept.close()

    def _poll(self, batch: Sequence[DueCall], way: Way | None = None) -> None:
        copying: set[int] = set()
        plans: dict[int, Reschedule] = {}
        try:
            answers = zip(batch, ask(batch, way), strict=True)
            answered = [(call, poll_results.doubted(call, answer)) for call, answer in answers]
            planned = [(call, plan) for call, answer in answered if (plan := next_poll(call, answer))]
            insist(polls.reschedule, [plan for call, plan in planned if is_written(call, plan)])
            plans = {call.id: plan for call, plan in planned if not is_written(call, plan)}
            self._progress.extend(p for call, p in planned if call.id in plans and p.progress != call.progress)
            # Before anything is ended: from now on the deadline, and who adopts the call, leave time for the copy.
            insist(paid_calls.finish, poll_results.newly_finished(answered))
            for call in poll_results.settle(answered):
                seats(self._polls, call, POLLS_PER_CHANNEL, "poll").start(cancel, call)
            for call, answer in answered:
                if isinstance(answer, Done) and not call.is_late and (made := insist(fan_in.ready, call, answer)):
                    copying.add(call.id)
                    seats(self._copies, call, COPIES_PER_CHANNEL, "copy").start(self._copy, call, made)
        except Exception:
            swallowed.note("worker.poll")
            insist(polls.reschedule, [Reschedule.after_fault(call, LATE_POLL_SECONDS) for call in batch])
        finally:
            self._put_back([call for call in batch if call.id not in copying], plans)

    def _put_back(self, calls: Iterable[DueCall], plans: Mapping[int, Reschedule]) -> None:
        """Where nothing was planned, or it was written, the row says what is next, if it is still followed."""
        for call in calls:
            seconds = plans[call.id].delay_seconds if call.id in plans else 0.0
            grid = min(TOGETHER_SECONDS, seconds / 10) if polled_together(call) > 1 else 0.0
            self.schedule.put(call.id, seconds, grid=grid)

    def _copy(self, call: DueCall, made: Sequence[CallResult]) -> None:
        with bind(task_id=call.task_id, attempt=call.attempt):
            try:
                deliver(call, made)
            except Unreadable as error:
                refuse(call, error)
                insist(polls.reschedule, [Reschedule.after_fault(call, backoff.seconds(call.faults))])
            except Exception:
                swallowed.note("worker.copy")
                insist(polls.reschedule, [Reschedule.after_fault(call, LATE_POLL_SECONDS)])
            finally:
                self._put_back([call], {})


def channel_of(call: DueCall) -> Channel:
    return call.channel_id, call.target.base_url


def seats(table: dict[Channel, ThreadPool], call: DueCall, size: int, name: str) -> ThreadPool:
    return table.setdefault(channel_of(call), ThreadPool(name, size))


def is_written(call: DueCall, plan: Reschedule) -> bool:
    """Whether a poll's plan changes more than the worker's own memory. From the deadline on all do: the rows tell who
    was asked for the last time."""
    return call.is_overdue or (plan.faults, plan.copy_faults) != (call.faults, call.copy_faults)


def batches(due: Iterable[DueCall]) -> Iterator[tuple[Reached, list[DueCall]]]:
    """Calls that are reached in the same way (the key), with the credential that bought them, as many as one poll
    takes. Those whose last poll met a fault go in smaller batches and soon alone, so that one job never spoils the
    polls of others."""
    groups: dict[tuple[Reached, int], list[DueCall]] = {}
    for call in due:
        size = batch_size(polled_together(call), call.faults)
        options = json.dumps(call.target.options, sort_keys=True) if call.target.options else ""
        key = (channel_of(call), call.credential_id, call.target.adapter, options)
        groups.setdefault((key, size), []).append(call)
    for (key, size), group in groups.items():
        rest = iter(group)
        while batch := list(islice(rest, size)):
            yield key, batch


def polled_together(call: DueCall) -> int:
    """How many jobs one poll takes."""
    adapter = registry.get(call.target.adapter)
    return adapter.poll_batch if adapter else 1


def batch_size(most: int, faults: int) -> int:
    """A fifth for each fault in a row: 50, 10, 2, 1."""
    return max(1, most // (5, 25, 125)[min(faults, 3) - 1]) if faults else most


def ask(batch: Sequence[DueCall], way: Way | None = None) -> list[Answer]:
    """One answer a call, over this way if it is known. A call with a result answers itself."""
    found: dict[int, Answer] = {call.id: answer for call in batch if (answer := own_answer(call))}
    asked = [call for call in batch if call.id not in found]
    if asked:
        found |= {call.id: answer for call, answer in zip(asked, polled(asked, way), strict=True)}
    return [found[call.id] for call in batch]


def polled(calls: Sequence[DueCall], way: Way | None = None) -> Sequence[Answer]:
    """The provider's answers. Where the request cannot even be made, because of one of the rows as a rule, each call is
    asked for alone."""
    try:
        adapter, opened = way or reach(calls[0], POLL_SECONDS)
        is_last = any(call.is_last for call in calls)
        connection = replace(opened, total_timeout=LAST_POLL_SECONDS if is_last else POLL_SECONDS)
        release_connection()
        answers = heard(adapter, calls, connection)
        if not connection.credentials:
            tell_lack(call for call, answer in zip(calls, answers, strict=True) if is_refused(answer))
        return answers
    except AWAY:
        raise
    except Exception as error:
        if len(calls) > 1:
            return [answer for call in calls for answer in polled([call])]
        swallowed.note("worker.poll")
        refuse(calls[0], Unreadable(f"its poll broke off ({type(error).__name__})"))
        return [UpstreamError(ErrorKind.TRANSIENT, "the poll broke off")]


def heard(adapter: Adapter, calls: Sequence[DueCall], connection: Connection) -> Sequence[Answer]:
    """What the provider says of each call. A fault of the request is a fault of each."""
    try:
        return adapter.poll([call.handle or {} for call in calls], connection)
    except UpstreamError as error:
        logger.warning("a poll of %d jobs of channel %s met a fault: %s", len(calls), calls[0].channel_id, error)
        return [error if is_refused(error) else poll_results.as_fault(error)] * len(calls)


def is_refused(answer: Answer) -> bool:
    return isinstance(answer, UpstreamError) and answer.kind is ErrorKind.AUTH


def tell_lack(calls: Iterable[DueCall]) -> None:
    """Tell the operator, in the log and on the calls, that no credential is left to ask for these jobs with. None of
    another origin is tried instead."""
    for call in calls:
        why = f"no credential of {urls.origin(call.target.base_url)} is left: the job cannot be asked for"
        logger.error("call %d of task %s: %s", call.id, call.task_id, why)
        insist(polls.note_defect, call.id, why, kind=NO_CREDENTIAL)


def own_answer(call: DueCall) -> Answer | None:
    """What the call's row says by itself: the result that it keeps, or a fault where it cannot be read. None: its
    provider is to be asked."""
    try:
        if call.defect:
            raise Unreadable(call.defect)
        return None if call.result is None else copies.read(call.id, call.result).done
    except Unreadable as error:
        refuse(call, error)
        return UpstreamError(ErrorKind.TRANSIENT, f"the call's row cannot be read: {error}")


def refuse(call: DueCall, error: Unreadable) -> None:
    """Tell the operator, in the log and on the call, that this version cannot go on with it. It is tried again: another
    one may, and its task has a deadline."""
    logger.error("call %d of task %s cannot be read: %s", call.id, call.task_id, error)
    insist(polls.note_defect, call.id, str(error))


def way_to(call: DueCall) -> Way | None:
    """How to reach it, and whoever is reached alike; None where that is a fault, which its poll will meet and tell."""
    if call.defect:
        return None
    try:
        return reach(call, POLL_SECONDS)
    except Exception:
        swallowed.note("worker.poll_connection")
        return None


def reach(call: DueCall, total_timeout: float) -> Way:
    """The adapter of a call and its connection. Raises LookupError where the adapter is not registered any more."""
    adapter = registry.get(call.target.adapter)
    if adapter is None:
        raise LookupError(f"adapter {call.target.adapter} is not registered any more")
    return adapter, insist(
        connections.to,
        call.channel_id,
        call.target,
        total_timeout=total_timeout,
        credential_id=call.credential_id,
        follows=True,
    )[1]


def next_poll(call: DueCall, answer: Answer) -> Reschedule | None:
    """When to ask again; None for a job that has ended."""
    least = LATE_POLL_SECONDS if call.is_late else 0.0
    if isinstance(answer, UpstreamError) and not poll_results.is_final(answer):
        return Reschedule.after_fault(call, max(least, backoff.seconds(call.faults, asked=answer.retry_after)))
    if isinstance(answer, Pending):
        return Reschedule.of(call, max(least, answer.poll_after), progress=answer.progress)
    return None


def deliver(call: DueCall, made: Sequence[CallResult]) -> None:
    """Copy and succeed; a failed copy is tried again with the next poll, which also refreshes the provider's URLs."""
    bought = insist(delivery.terms_of_call, call)
    seconds = max(LAST_COPY_SECONDS, min(COPY_SECONDS, call.copy_until - time.monotonic()))
    adapter, connection = reach(call, seconds)
    release_connection()
    copied = copies.make(made, adapter, connection, most=bought.agreed.count_of_call)
    left = call.copy_until - time.monotonic()
    may_wait = copied.is_ours or copied.may_come
    is_last = left <= 0 or (not may_wait and call.copy_faults + 1 >= UNUSABLE_TRIES)
    if not delivery.finish(bought, made, copied, is_last=is_last):
        again = Reschedule.after_copy_fault(call, min(backoff.seconds(call.copy_faults), max(0.0, left)))
        insist(polls.reschedule, [again])


def cancel(call: DueCall) -> None:
    """Ask the provider to stop a job whose task has ended; what it confirms need not be followed any more."""
    if call.handle is None:  # its row cannot be read
        return
    with bind(task_id=call.task_id, attempt=call.attempt):
        adapter, connection = reach(call, CANCEL_SECONDS)
        release_connection()
        if adapter.cancel(call.handle or {}, connection):
            insist(paid_calls.close, CallEnd(id=call.id, state="done", outcome={"kind": "canceled"}))
