"""Step 8: drafts become queued tasks. One transaction writes their rows, holds and events.

Drafts of many requests that come while a transaction runs go together into the next one. It takes those whose accounts
are free; the others wait for theirs in lines of their own, on threads of the account's share. So nobody waits for an
account that somebody else holds but its own requests. A draft that cannot be written fails alone.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from django.db import IntegrityError, transaction

from accounts.authentication import Replay
from billing import ledger
from billing.ledger import AccountState
from common import sql, swallowed
from common.concurrency import threads, wakeups
from common.concurrency.gathering import AccountLines, Gathering, GrowingGroup
from common.database import time_limits, writes
from common.database.database_retry import AWAY, apart, is_held_up
from common.errors import ApiError
from tasks.events import events
from tasks.intake import columns, limits, lost_commits
from tasks.intake.drafts import Draft
from tasks.intake.limits import Standing
from tasks.intake.lost_commits import OutcomeUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A new task, committed."""

    task_id: str
    created_at: datetime


Outcome = Created | Replay | ApiError
Line = Gathering[Draft, Outcome]
TAKEN = "budget_day text, live bigint"
"""What the transaction adds to the row of a draft."""


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


def _tidy_up(draft: Draft, promise: "Future[Outcome]") -> None:
    error = None if promise.cancelled() else promise.exception()
    if isinstance(error, OutcomeUnknown):
        lost_commits.doubt(draft)
    elif promise.cancelled() or error or not isinstance(promise.result(), Created):
        draft.discard_inputs()


def _submit_shared(drafts: Sequence[Draft]) -> list[Outcome | Exception | Line]:
    """Drafts of accounts that somebody else holds wait in their own lines. If one draft makes the joint write fail, or
    run out of time, all move to the lines of their accounts."""
    outcomes: Mapping[str, Outcome] = {}
    try:
        outcomes = threads.returning_connection(submit_free, drafts)
    except AWAY as error:
        if isinstance(error, OutcomeUnknown) or not is_held_up(error):
            return [error] * len(drafts)
        swallowed.note("tasks.intake.submission.held_up")
    except Exception:
        swallowed.note("tasks.intake.submission")
    return [outcomes.get(draft.task_id) or _own_lines.of(draft.caller.account_id) for draft in drafts]


def _submit_own(drafts: GrowingGroup[Draft]) -> list[Outcome | Exception]:
    """Of one account, which is waited for, as are its drafts that come meanwhile. The exception of each draft that
    cannot be written."""
    return threads.returning_connection(apart, _submit_part, drafts)


def _submit_part(drafts: Sequence[Draft]) -> list[Outcome | Exception]:
    """Others of the line may be tasks already where the database is away."""
    grow = drafts.grow if isinstance(drafts, GrowingGroup) else None
    try:
        return [*submit(drafts, once_locked=grow)]
    except AWAY as error:
        return [error] * len(drafts)


_thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="submission")
_shared_line: Line = Gathering(_submit_shared, start=_thread.submit)
_own_lines: AccountLines[Draft, Outcome] = AccountLines(_submit_own)
together = _shared_line.held
"""Write drafts that are added during the block together after it: on this thread, unless a batch is running. Drafts of
an account that has a line of its own go into that line."""


def submit_one(single: Draft) -> Outcome:
    """`submit` of a single draft. Nothing is left of its Data URLs where it became no task."""
    try:
        (outcome,) = submit([single])
    except OutcomeUnknown:
        lost_commits.doubt(single)
        raise
    except BaseException:
        single.discard_inputs()
        raise
    if not isinstance(outcome, Created):
        single.discard_inputs()
    return outcome


def submit(drafts: Sequence[Draft], *, once_locked: Callable[[], None] | None = None) -> list[Outcome]:
    """Write the drafts that balances and limits allow, in order, once their accounts are locked; a refusal touches
    nothing of its own. `once_locked` may add drafts of the same accounts. Drafts that have waited in line before wait
    that much shorter for the lock. Raises as `submit_free`."""
    outcomes = _submit(drafts, skip_locked=False, once_locked=once_locked)
    return [outcomes[d.task_id] for d in drafts]


def submit_free(drafts: Sequence[Draft]) -> dict[str, Outcome]:
    """Write the drafts of those accounts that nobody else holds; the others are left out. The outcomes by task id.

    Two statements in one transaction (SQLite: six), whatever the number of drafts. One more reads what only some of
    them are asked for: callbacks, inputs, budgets; one counts where an account may be near a limit, and one writes
    budgets. Raises OutcomeUnknown where the answer to the commit was lost and the database cannot be asked; whatever
    else it raises, nothing was written.
    """
    outcomes = _submit(drafts, skip_locked=True)
    if lost_commits.doubtful:  # the database answers again
        lost_commits.settle()
    return outcomes


def _submit(
    drafts: Sequence[Draft], *, skip_locked: bool, once_locked: Callable[[], None] | None = None
) -> dict[str, Outcome]:
    """The admission has looked for the Idempotency-Keys. Where the unique index finds one that was used since, all is
    done once more, with a look at the keys."""
    try:
        return _transact(drafts, skip_locked=skip_locked, once_locked=once_locked, with_replays=False)
    except IntegrityError:
        return _transact(drafts, skip_locked=skip_locked, once_locked=once_locked, with_replays=True)


def _transact(
    drafts: Sequence[Draft], *, skip_locked: bool, once_locked: Callable[[], None] | None, with_replays: bool
) -> dict[str, Outcome]:
    decided: list[tuple[Draft, Replay | ApiError | None]] = []
    created: dict[str, datetime] = {}
    try:
        with transaction.atomic():
            if drafts and not skip_locked:
                _bound_locks(time.monotonic() - min(d.made_at for d in drafts))
            accounts = ledger.lock_accounts({d.caller.account_id for d in drafts}, only_free=skip_locked)
            if once_locked:
                once_locked()
            taken = [d for d in drafts if d.caller.account_id in accounts]
            standing, outcomes = _decide(taken, accounts, with_replays=with_replays)
            decided = list(zip(taken, outcomes, strict=True))
            if allowed := [d for d, outcome in decided if outcome is None]:
                created = insert(allowed, standing)
    except AWAY as error:
        if not created or not lost_commits.took_place(allowed, error):
            raise
    return {d.task_id: outcome or Created(task_id=d.task_id, created_at=created[d.task_id]) for d, outcome in decided}


def _bound_locks(waited: float) -> None:
    """Let drafts that have waited in line wait that much shorter for their account."""
    seconds = time_limits.lock_left(waited)
    if seconds is not None:
        sql.fetch(f"SELECT {sql.lock_timeout(seconds)}")


def _decide(
    drafts: Sequence[Draft], accounts: dict[int, AccountState], *, with_replays: bool
) -> tuple[Standing, list[Replay | ApiError | None]]:
    """Without replays a refused draft may be one: its Idempotency-Key comes before limits and money."""
    standing = limits.read_standing(drafts, accounts, with_replays=with_replays)
    decided = limits.decide(drafts, accounts, standing)
    if with_replays or not any(
        isinstance(outcome, ApiError) and d.idempotency_key for d, outcome in zip(drafts, decided, strict=True)
    ):
        return standing, decided
    return _decide(drafts, accounts, with_replays=True)


def insert(drafts: Sequence[Draft], standing: Standing) -> dict[str, datetime]:
    """Tasks, payloads, events, holds and accounts: one statement (SQLite: five), and one more where something was taken
    of budgets. The moments of creation by task id."""
    rows: list[str] = []
    for d in drafts:
        account_id = d.caller.account_id
        day = standing.budgets.day(account_id, d.caller.key_id) if standing.budgets else None
        rows.append(sql.extended(d.row, {"budget_day": day, "live": standing.live[account_id]}))
    created = writes.write_together(f"{columns.ROW}, {TAKEN}", rows, insertions())
    if standing.budgets:
        standing.budgets.write()
    wakeups.tell(*events.TOPICS["queued"])
    return {task_id: sql.as_moment(at) for task_id, at in created}


@cache
def insertions() -> tuple[str, ...]:
    """The writes of `insert`; the first returns ids and moments of creation."""
    return (
        *columns.insertions(),
        events.recording(task="r.id", key="r.key_id", status="'queued'", attempt="0"),
        *ledger.reserving(
            reference="r.id",
            account="r.account_id",
            key="r.key_id",
            amount="r.estimated_micros",
            budget_day="r.budget_day",
            live="r.live",
        ),
    )
