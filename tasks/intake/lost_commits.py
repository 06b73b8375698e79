"""Commits of submissions whose answer was lost: whether they took place is asked of the database, and never guessed."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress

from django.db import OperationalError, transaction

from billing import ledger
from common import sql
from common.database.database_retry import AWAY
from common.database.lost_commits import ask_anew, is_doubtful
from tasks.assets import stored_inputs
from tasks.intake.drafts import Draft

MOST_DOUBTFUL = 1_000
doubtful: deque[Draft] = deque(maxlen=MOST_DOUBTFUL)


class OutcomeUnknown(OperationalError):
    """The drafts may have become tasks; the database is away."""


def took_place(drafts: Sequence[Draft], error: Exception) -> bool:
    """Whether the transaction that wrote the drafts was committed, although the commit failed like this.

    Asked on a new connection, once whatever is left of the old one has let go of the accounts, in time of its own.
    Raises OutcomeUnknown.
    """
    if not is_doubtful(error):
        return False
    ask_anew()
    try:
        return bool(_written(drafts))
    except AWAY:
        raise OutcomeUnknown(*error.args) from error


def _written(drafts: Sequence[Draft], *, only_free: bool = False) -> list[str] | None:
    """The ids of those that are tasks. With `only_free` None where somebody else holds an account, who may be the one
    that writes them."""
    accounts = {d.caller.account_id for d in drafts}
    with transaction.atomic():
        if len(ledger.lock_accounts(accounts, only_free=only_free)) < len(accounts):
            return None
        query = f"SELECT id FROM tasks_task WHERE id {sql.among('text')}"
        return sql.column(query, [sql.ids(d.task_id for d in drafts)])


def doubt(draft: Draft) -> None:
    """Remember a draft of unknown outcome, whose stored inputs may be those of no task."""
    if draft.files:
        doubtful.append(draft)


def settle() -> None:
    """Delete the inputs of those that became no task, as far as the database can tell by now without a wait."""
    with suppress(*AWAY):
        for _ in range(len(doubtful)):
            draft = doubtful[0]
            written = _written([draft], only_free=True)
            if written is None:
                doubtful.rotate(-1)
                continue
            if not written:
                stored_inputs.discard(draft.files)
            doubtful.popleft()
