"""Step 6 for many requests: drafts that come while a transaction runs go together into the next one.

It takes those whose accounts are free; the others wait for theirs in lines of their own, on threads of the account's
share. So nobody waits for an account that somebody else holds but its own requests. A draft that cannot be written
fails alone.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager

from common.concurrency import account_lines, halving, threads
from common.concurrency.account_lines import AccountLines
from common.concurrency.gathering import Gathering, GrowingGroup
from common.database.database_retry import AWAY, is_held_up
from tasks.intake import fast_submission, lost_commits, submission
from tasks.intake.drafts import Draft
from tasks.intake.lost_commits import OutcomeUnknown
from tasks.intake.submission import Created, Outcome

Line = Gathering[Draft, Outcome]


def add(draft: Draft) -> "Future[Outcome]":
    """The promise of its outcome, committed. Taken back before its turn has come, it is no task. Nothing is left of the
    inputs of a draft that surely became none."""
    account_id = draft.caller.account_id
    # What may have megabytes to write holds up nobody, and makes no statement too large.
    own = _own_lines.new(account_id) if draft.option_bytes else _own_lines.known(account_id)
    promise = (own or _shared_line).add(draft, payer=account_id)
    if draft.files:
        promise.add_done_callback(lambda _: threads.executor.submit(_tidy_up, draft, promise))
    return promise


def together() -> AbstractContextManager[None]:
    """Drafts that are added during the block are not written before its end, and then together, on this thread."""
    return _shared_line.held()


def _submit_shared(drafts: Sequence[Draft]) -> list[Outcome | Exception | Line]:
    outcomes = threads.returning_connection(_submit_free, drafts, seconds=account_lines.shared_seconds())
    return [outcomes.get(draft.task_id) or _own_lines.of(draft.caller.account_id) for draft in drafts]


def _submit_free(drafts: Sequence[Draft]) -> Mapping[str, Outcome | Exception]:
    """By task id. Nothing is said of those whose account is held or has to be asked more."""
    fast, others = _sorted(drafts)
    outcomes = {**_tried(fast_submission.submit, fast)}
    left = [draft for draft in fast if draft.task_id not in outcomes]
    if len({draft.caller.account_id for draft in left}) > 1:  # one alone is mostly held, and has a line of its own
        others += left
    outcomes |= _tried(submission.submit_free, others)
    if not any(isinstance(outcome, AWAY) for outcome in outcomes.values()):
        lost_commits.settle()
    return outcomes


def _tried(
    step: Callable[[Sequence[Draft]], Mapping[str, Outcome]], drafts: Sequence[Draft]
) -> Mapping[str, Outcome | Exception]:
    """What the step makes of them; nothing is said of any where one keeps the others from being written."""
    try:
        return step(drafts) if drafts else {}
    except AWAY as error:
        is_final = isinstance(error, OutcomeUnknown) or not is_held_up(error)
        return {draft.task_id: error for draft in drafts} if is_final else {}
    except Exception:
        return {}


def _sorted(drafts: Sequence[Draft]) -> tuple[list[Draft], list[Draft]]:
    """Those that the fast path may take, and others. Whatever follows such a draft with its Idempotency-Key has to
    wait until that is written, and is among neither."""
    fast: dict[Hashable, Draft] = {}
    others: list[Draft] = []
    for draft in drafts:
        name = (draft.caller.key_id, draft.idempotency_key or draft.task_id)
        if name in fast:
            continue
        if fast_submission.is_for(draft):
            fast[name] = draft
        else:
            others.append(draft)
    return [*fast.values()], others


def _submit_own(drafts: GrowingGroup[Draft]) -> list[Outcome | Exception]:
    """Of one account, which is waited for, as are its drafts that come meanwhile. The exception of each draft that
    cannot be written."""
    return threads.returning_connection(halving.apart, _submit_part, drafts, seconds=account_lines.own_seconds())


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
