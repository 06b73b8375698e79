"""Step 6 for many requests: drafts that come while a transaction runs go together into the next one.

It takes those whose accounts are free; the others wait for theirs in lines of their own, on threads of the account's
share. So nobody waits for an account that somebody else holds but its own requests. A draft that cannot be written
fails alone.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

from common import swallowed
from common.concurrency import halving, threads
from common.concurrency.gathering import AccountLines, Gathering, GrowingGroup
from common.database.database_retry import AWAY, is_held_up
from tasks.intake import lost_commits, submission
from tasks.intake.drafts import Draft
from tasks.intake.lost_commits import OutcomeUnknown
from tasks.intake.submission import Created, Outcome

Line = Gathering[Draft, Outcome]


def add(draft: Draft) -> "Future[Outcome]":
    """The promise of its outcome, committed. Taken back before its turn has come, it is no task. Nothing is left of the
    inputs of a draft that surely became none."""
    account_id = draft.caller.account_id
    # What may have megabytes to write holds up nobody, and makes no statement too large.
    own = _own_lines.new(account_id) if draft.option_bytes else _own_lines.get(account_id)
    promise = (own or _shared_line).add(draft, payer=account_id)
    if draft.files:
        promise.add_done_callback(lambda _: threads.executor.submit(_tidy_up, draft, promise))
    return promise


def together() -> AbstractContextManager[None]:
    """Drafts that are added during the block are written together after it: on this thread, unless a batch is at work;
    and those of accounts that have a line of their own, in that."""
    return _shared_line.held()


def _submit_shared(drafts: Sequence[Draft]) -> list[Outcome | Exception | Line]:
    """Drafts of accounts that somebody else holds wait in their own lines. If one draft makes the joint write fail, or
    run out of time, all move to the lines of their accounts."""
    outcomes: Mapping[str, Outcome] = {}
    try:
        outcomes = threads.returning_connection(_submit_free, drafts)
    except AWAY as error:
        if isinstance(error, OutcomeUnknown) or not is_held_up(error):
            return [error] * len(drafts)
        swallowed.note("tasks.intake.joint_submission.held_up")
    except Exception:
        swallowed.note("tasks.intake.joint_submission")
    return [outcomes.get(draft.task_id) or _own_lines.of(draft.caller.account_id) for draft in drafts]


def _submit_free(drafts: Sequence[Draft]) -> dict[str, Outcome]:
    outcomes = submission.submit_free(drafts)
    lost_commits.settle()  # the database answers again: what became of earlier drafts whose outcome was unknown?
    return outcomes


def _submit_own(drafts: GrowingGroup[Draft]) -> list[Outcome | Exception]:
    """Of one account, which is waited for, as are its drafts that come meanwhile. The exception of each draft that
    cannot be written."""
    return threads.returning_connection(halving.apart, _submit_part, drafts)


def _submit_part(drafts: Sequence[Draft]) -> list[Outcome | Exception]:
    """Others of the line may be tasks already where the database is away."""
    grow = drafts.grow if isinstance(drafts, GrowingGroup) else None
    try:
        return [*submission.submit(drafts, once_locked=grow)]
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
_own_lines: AccountLines[Draft, Outcome] = AccountLines(_submit_own)
