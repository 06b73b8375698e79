"""Step 6 for many requests: drafts that come while a transaction runs go together into the next one.

It takes those whose accounts are free; the others wait for theirs in lines of their own, on threads of the account's
share. So nobody waits for an account that somebody else holds but its own requests. A draft that cannot be written
fails alone.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from weakref import WeakValueDictionary

from common import halving, query_deadline, sql, threads
from common.database_retry import AWAY, is_held_up
from common.gathering import Gathering
from tasks import lost_commits, submission
from tasks.drafts import Draft
from tasks.lost_commits import OutcomeUnknown
from tasks.submission import Created, Outcome

# Of the ten seconds that a request has: what a transaction of several accounts takes, and what is left for one alone.
SHARED_PART, OWN_PART = 0.2, 0.8

Line = Gathering[Draft, Outcome]


def add(draft: Draft) -> "Future[Outcome]":
    """The promise of its outcome, committed. Taken back before its turn has come, it is no task. Nothing is left of the
    inputs of a draft that surely became none."""
    account_id = draft.caller.account_id
    # What may have megabytes to write holds up nobody, and makes no statement too large.
    own = _new_line(account_id) if draft.option_bytes else _own_lines.get(account_id)
    promise = (own or _shared_line).add(draft, payer=account_id)
    if draft.files:
        promise.add_done_callback(lambda _: threads.executor.submit(_tidy_up, draft, promise))
    return promise


def together() -> AbstractContextManager[None]:
    """Drafts that are added during the block are not written before its end, and then together."""
    return _shared_line.held()


def _own_line(account_id: int) -> Line:
    with _lock:
        line = _own_lines.get(account_id)
        if line is None:
            line = _own_lines[account_id] = _new_line(account_id)
        return line


def _new_line(account_id: int) -> Line:
    return Gathering(_submit_own, start=partial(_start_own, account_id))


def _start_own(account_id: int, run: Callable[[], None]) -> None:
    token = threads.share.set(threads.of_account(account_id))
    try:
        threads.executor.submit(run)
    finally:
        threads.share.reset(token)


def _submit_shared(drafts: Sequence[Draft]) -> list[Outcome | Line]:
    """Raises what fails all of them."""
    seconds = query_deadline.SECONDS * (SHARED_PART if sql.is_postgresql() else 1)
    outcomes = threads.returning_connection(_submit_free, drafts, seconds=seconds)
    return [outcome or _own_line(draft.caller.account_id) for draft, outcome in zip(drafts, outcomes, strict=True)]


def _submit_free(drafts: Sequence[Draft]) -> Sequence[Outcome | None]:
    """None of each whose account is held, and of all where one of them keeps the others from being written."""
    try:
        outcomes = submission.submit_free(drafts)
    except OutcomeUnknown:
        raise
    except AWAY as error:
        if not is_held_up(error):
            raise
        return [None] * len(drafts)
    except Exception:
        return [None] * len(drafts)
    lost_commits.settle()
    return outcomes


def _submit_own(drafts: Sequence[Draft]) -> list[Outcome | Exception]:
    """Of one account, which is waited for. The exception of each draft that cannot be written."""
    seconds = query_deadline.SECONDS * OWN_PART
    return threads.returning_connection(halving.apart, _submit_part, drafts, seconds=seconds)


def _submit_part(drafts: Sequence[Draft]) -> list[Outcome | Exception]:
    """Others of the line may be tasks already where the database is away."""
    try:
        return [*submission.submit(drafts)]
    except AWAY as error:
        return [error] * len(drafts)


def _tidy_up(draft: Draft, promise: "Future[Outcome]") -> None:
    error = None if promise.cancelled() else promise.exception()
    if isinstance(error, OutcomeUnknown):
        lost_commits.doubt(draft)
    elif promise.cancelled() or error or not isinstance(promise.result(), Created):
        submission.discard_inputs(draft)


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="submission")
_shared_line: Line = Gathering(_submit_shared, start=_thread.submit)
# Of accounts that somebody else holds: each lasts as long as it has drafts.
_own_lines: WeakValueDictionary[int, Line] = WeakValueDictionary()
_lock = threading.Lock()
