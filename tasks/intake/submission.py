"""Step 6: prepared submissions become queued tasks. One transaction writes their rows, holds and events.

It takes a list of drafts; `tasks/intake/joint_submission.py` has the drafts of many requests written together.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any

from django.db import IntegrityError, transaction

from adapters.base import StoredFile
from billing import ledger
from billing.ledger import AccountState
from common import ids, sql
from common.concurrency import wakeups
from common.database import time_limits, writes
from common.database.database_retry import AWAY
from common.errors import ApiError, StorageUnavailable
from storage import backends, blobs
from tasks import route_sets
from tasks.assets import stored_inputs
from tasks.events import events
from tasks.gate import Caller, Replay
from tasks.intake import columns, limits, lost_commits
from tasks.intake.drafts import Draft, PreparedSubmission
from tasks.intake.limits import Standing
from tasks.intake.lost_commits import OutcomeUnknown
from tasks.origins import Origin
from tasks.request import stored_params
from tasks.request.values import ReferredFile, UnstoredFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """A new task, committed."""

    task_id: str
    created_at: datetime


Outcome = Created | Replay | ApiError
TAKEN = "budget_day text, live bigint"
"""What the transaction adds to the row of a draft."""


def draft(
    prepared: PreparedSubmission,
    *,
    caller: Caller,
    body_digest: str,
    idempotency_key: str | None,
    origin: Origin = "async",
    asked: Mapping[str, str] | None = None,
    copied: Mapping[str, Any] | None = None,
) -> Draft:
    """Store the Data URLs and find the route set. Raises StorageUnavailable."""
    backends.health().check()
    route_set_id = route_sets.identify(kept.route.id for kept in prepared.decision.kept)
    if unstored := stored_params.unstored(prepared.request):
        prepared = replace(prepared, request=stored_params.with_files(prepared.request, _stored(unstored)))
    files = [file for file in prepared.request.stored_files if not isinstance(file, ReferredFile)]
    option_bytes = stored_inputs.bytes_of_options(prepared.request)
    made = Draft(
        caller=caller,
        prepared=prepared,
        task_id=ids.new_task_id(),
        route_set_id=route_set_id,
        body_digest=body_digest,
        idempotency_key=idempotency_key,
        files=files,
        option_bytes=option_bytes,
        input_bytes=option_bytes + sum(file.size_bytes for file in files),
        origin=origin,
        asked=asked or {},
        copied=copied or {},
    )
    if not option_bytes:
        made.row  # noqa: B018  # now, when nobody waits for the account; megabytes are not kept twice while it waits
    return made


def _stored(found: Iterable[UnstoredFile]) -> list[StoredFile]:
    """All of them, or none."""
    files: list[StoredFile] = []
    try:
        for file in found:
            files.append(blobs.put_input(file.content, file.content_type))
    except StorageUnavailable:
        stored_inputs.discard(files)
        raise
    return files


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
    return _submit(drafts, skip_locked=True)


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
            accounts = ledger.lock_accounts((d.caller.account_id for d in drafts), only_free=skip_locked)
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


def submit_one(single: Draft) -> Outcome:
    """`submit` of a single draft. Nothing is left of its Data URLs where it became no task."""
    try:
        (outcome,) = submit([single])
    except OutcomeUnknown:
        lost_commits.doubt(single)
        raise
    except BaseException:
        discard_inputs(single)
        raise
    if not isinstance(outcome, Created):
        discard_inputs(single)
    return outcome


def insert(drafts: Sequence[Draft], standing: Standing) -> dict[str, datetime]:
    """Tasks, payloads, events, holds and accounts: one statement (SQLite: five), and one more where something was taken
    of budgets. The moments of creation by task id."""
    rows = [sql.merged(d.row, sql.packed(_taken(d, standing))) for d in drafts]
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


def _taken(d: Draft, standing: Standing) -> dict[str, Any]:
    """What the transaction knows of the account, and the draft itself does not."""
    account_id = d.caller.account_id
    day = standing.budgets.day(account_id, d.caller.key_id) if standing.budgets else None
    return {"budget_day": day, "live": standing.live[account_id]}


def discard_inputs(refused: Draft) -> None:
    """Delete the Data URLs of a draft that became no task."""
    stored_inputs.discard(refused.files)
