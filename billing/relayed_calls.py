"""Relayed calls in the books: reserved before anything is sent, ended once by the usage that was seen.

Everything takes lists. The hold of a call has its id as reference. Lock order: calls by id, accounts by id, and only
then what hangs on them: holds, entries and the aggregates of their keys. A reservation locks accounts alone, because
nobody else can wait for its new calls.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import OperationalError, transaction

from billing import budgets, call_statements, ledger
from billing.budgets import Budgets
from billing.call_statements import COUNT_COLUMNS
from billing.ledger import AccountState
from common import ids, sql
from common.database import writes
from common.database.database_retry import AWAY
from common.database.lost_commits import ask_anew, is_doubtful
from common.database.writes import Write
from common.errors import InsufficientBalance, InsufficientQuota
from common.token_usage import COUNTS, TokenUsage
from pages import words

PREFIX = "call_"
LONGEST_MODEL = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCall:
    """A call to reserve. `estimated_micros` is what it may cost at most, `price` the frozen price."""

    call_id: str
    account_id: int
    key_id: int
    group_id: int
    process_id: str
    model: str
    dialect: str
    is_stream: bool
    channel_id: int | None
    estimated_micros: int
    price: Mapping[str, Any]
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenUsage:
    """What an open call has used so far, and what that costs."""

    call_id: str
    usage: TokenUsage
    actual_micros: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnding:
    """The end of a call; `actual_micros` is charged, at most what was held, and None releases it. `flags` and
    `overrun_micros` tell the operator of a usage that was completed, or would have cost more than that."""

    call_id: str
    account_id: int
    actual_micros: int | None
    usage: TokenUsage | None
    outcome: str
    is_estimated: bool = False
    is_loss: bool = False
    flags: Mapping[str, Any] = field(default_factory=dict)
    overrun_micros: int = 0
    channel_id: int | None = None
    attempts: Sequence[Mapping[str, Any]] = field(default_factory=list)
    http_status: int | None = None


class ProcessDeclaredDead(Exception):
    """Calls of a process that others hold for dead, or that is not registered: nothing was reserved."""


class ReservationUnknown(OperationalError):
    """The calls may be reserved; the database is away."""


def new_call_id() -> str:
    """`call_` and 26 characters, ordered by time."""
    return ids.new_id(PREFIX)


def reserve(calls: Sequence[NewCall]) -> list[InsufficientBalance | None]:
    """Open the calls that their accounts can pay, in order, and hold the money; a refusal touches nothing of its own.

    Two statements in one transaction (SQLite: four), and two more where an account has budgets. Raises
    ProcessDeclaredDead, and ReservationUnknown where the answer to the commit was lost and the database cannot be
    asked; whatever it raises else, nothing was written.
    """
    outcomes = _reserve(calls, only_free=False)
    return [outcomes[call.call_id] for call in calls]


def reserve_free(calls: Sequence[NewCall]) -> dict[str, InsufficientBalance | None]:
    """The same without waiting for accounts that somebody else holds: their calls are left out. By call id."""
    return _reserve(calls, only_free=True)


def _reserve(calls: Sequence[NewCall], *, only_free: bool) -> dict[str, InsufficientBalance | None]:
    written: list[NewCall] = []
    try:
        with transaction.atomic():
            accounts = ledger.lock_accounts((call.account_id for call in calls), only_free=only_free)
            found = budgets.read(accounts, ((call.account_id, call.key_id) for call in calls))
            outcomes = _judge([call for call in calls if call.account_id in accounts], accounts, found)
            payable = [call for call in calls if outcomes.get(call.call_id, call) is None]
            if payable:
                _insert(payable, found)
            written = payable
    except AWAY as error:
        if not written or not _took_place(written, error):
            raise
    return outcomes


def _judge(
    calls: Sequence[NewCall], accounts: Mapping[int, AccountState], limits: Budgets
) -> dict[str, InsufficientBalance | None]:
    """In arrival order and with running totals."""
    available = {account: state.available_micros for account, state in accounts.items()}
    outcomes: dict[str, InsufficientBalance | None] = {}
    for call in calls:
        if available[call.account_id] < call.estimated_micros:
            outcomes[call.call_id] = _too_little(available[call.account_id], call)
            continue
        spender = call.account_id, call.key_id, call.estimated_micros
        outcomes[call.call_id] = limits.refusal(*spender, of_what="call")
        if outcomes[call.call_id] is None:
            available[call.account_id] -= call.estimated_micros
            limits.take(*spender)
    return outcomes


def _too_little(available: int, call: NewCall) -> InsufficientBalance:
    cure = "Fewer pictures cost less." if "picture" in call.price else "A lower limit of output tokens lowers that."
    return InsufficientQuota(
        f"The available balance of {words.usd(max(0, available))} does not cover what this call may cost, "
        f"{words.usd(call.estimated_micros)}. {cure}"
    )


def _took_place(calls: Sequence[NewCall], error: Exception) -> bool:
    """Whether the transaction that wrote them was committed, although the commit failed like this."""
    if not is_doubtful(error):
        return False
    ask_anew()
    try:
        _outlive({call.account_id for call in calls})
        return bool(sql.fetch("SELECT 1 FROM billing_relayedcall WHERE id = %s", [calls[0].call_id]))
    except AWAY:
        raise ReservationUnknown(*error.args) from error


def _outlive(account_ids: Iterable[int]) -> None:
    """Wait until whatever is left of a lost connection has let go of these accounts: then it is committed or undone."""
    with transaction.atomic():
        ledger.lock_accounts(account_ids)


def _insert(calls: Sequence[NewCall], limits: Budgets) -> None:
    """One statement (SQLite: three), and one more where an account has budgets."""
    rows = [opening_row(call, limits.day(call.account_id, call.key_id)) for call in calls]
    opened = writes.write_together(call_statements.NEW_COLUMNS, rows, call_statements.reserving())
    if len(opened) != len(calls):
        raise ProcessDeclaredDead(str({call.process_id for call in calls}))
    limits.write()


def opening_row(call: NewCall, budget_day: str | None = None) -> dict[str, Any]:
    """Of NEW_COLUMNS."""
    return {
        "id": call.call_id,
        "account": call.account_id,
        "key": call.key_id,
        "group_id": call.group_id,
        "process": call.process_id,
        "model": call.model[:LONGEST_MODEL],
        "dialect": call.dialect,
        "channel": call.channel_id,
        "is_stream": call.is_stream,
        "estimated": call.estimated_micros,
        "price": sql.document(dict(call.price)),
        "request_id": call.request_id,
        "budget_day": budget_day,
    }


def note(seen: Sequence[SeenUsage]) -> None:
    """Write down what open calls have used, for whoever has to end them where this process dies. One statement; of
    several for one call the last counts. Calls that are being ended are passed over."""
    latest = {each.call_id: each for each in seen}
    rows = [{"id": s.call_id, "micros": s.actual_micros, **_counts(s.usage)} for s in latest.values()]
    counts = ", ".join(f"{name} = r.{name}" for name in COUNTS)
    sql.run(
        f"UPDATE billing_relayedcall SET noted_micros = r.micros, {counts} "
        f"FROM {sql.rows(f'id text, micros bigint, {COUNT_COLUMNS}')} WHERE billing_relayedcall.id = r.id "
        "AND billing_relayedcall.id IN (SELECT c.id FROM billing_relayedcall c "
        f"WHERE c.id IN ({sql.places(latest)}) AND c.state = 'open'{sql.row_lock(skip_locked=True)})",
        [sql.pack(rows), *latest],
    )


def end(endings: Sequence[CallEnding], *, is_repeated: bool = False) -> list[bool]:
    """Settle or release each call that is still open, with its hold, charge, aggregate and account; False of each that
    had ended before, which is left alone.

    Three statements in one transaction (SQLite: seven), and one more where an account has budgets. It may be repeated
    after a commit whose answer was lost, of the calls' ends or of their reservations; then those that have ended in
    just this way count as ended by it.
    """
    if is_repeated:
        _outlive({ending.account_id for ending in endings})
    done = _end(endings)
    if is_repeated and (others := [ending for ending in endings if ending.call_id not in done]):
        done |= _ended_alike(others)
    answers: list[bool] = []
    for ending in endings:
        answers.append(ending.call_id in done)
        done.discard(ending.call_id)
    return answers


def end_free(endings: Sequence[CallEnding]) -> set[str]:
    """End calls as `end` does, without waiting for calls and accounts that somebody else holds: the ids of those that
    it ended.

    One statement, which is its own transaction (SQLite: as `end`), with the writes of `end`. It waits for nobody, so
    that the order of its locks decides nothing. A call whose hold is not open it leaves to `end`, and those of accounts
    with budgets. In groups of twelve an end takes 0.22 ms of CPU so, and 0.40 ms by the statements of `end`, which is a
    sixth of what a relayed chat takes in all (2026-11-28, PostgreSQL on the same machine).
    """
    if not sql.is_postgresql():
        return _end(endings)
    told = writes.packed(call_statements.TOLD_COLUMNS, [_told(ending) for ending in _first(endings).values()])
    rows = told._replace(chosen=call_statements.free())
    statements = *call_statements.ending(), *ledger.settling()
    return {ended for (ended,) in writes.run([Write(statement, rows) for statement in statements])}


def _end(endings: Sequence[CallEnding]) -> set[str]:
    first = _first(endings)
    with transaction.atomic():
        found = sql.records(
            call_statements.OPEN.format(day=call_statements.day(), ids=sql.places(first), lock=sql.row_lock()), [*first]
        )
        if found:
            ledger.settle(
                [_ended_row(first[row.id], row) for row in found],
                ledger.lock_accounts(row.account_id for row in found),
                columns=call_statements.ENDED_COLUMNS,
                statements=call_statements.ending(),
            )
    return {row.id for row in found}


def _first(endings: Sequence[CallEnding]) -> dict[str, CallEnding]:
    """By call: of several ends the first counts."""
    return {ending.call_id: ending for ending in reversed(endings)}


def _told(ending: CallEnding) -> dict[str, Any]:
    """Of an end: its TOLD_COLUMNS."""
    return {
        "id": ending.call_id,
        "charge": ending.actual_micros,
        "outcome": ending.outcome,
        "is_estimated": ending.is_estimated,
        "is_loss": ending.is_loss,
        "flags": sql.document(dict(ending.flags)) if ending.flags else None,
        "overrun": ending.overrun_micros,
        "channel": ending.channel_id,
        "attempts": sql.document(list(ending.attempts)),
        "http_status": ending.http_status,
        **_counts(ending.usage or TokenUsage()),
    }


def _ended_row(ending: CallEnding, row: Any) -> dict[str, Any]:
    """Of the end of a call whose row is locked: its ENDED_COLUMNS."""
    return {**_told(ending), "account": row.account_id, "key": row.key_id, "model": row.model, "day": row.day}


def _counts(usage: TokenUsage) -> dict[str, int]:
    return {name: getattr(usage, name) for name in COUNTS}


def _ended_alike(endings: Sequence[CallEnding]) -> set[str]:
    """The ids of those that have ended with this outcome and charge."""
    ways = {ending.call_id: (ending.outcome, ending.actual_micros) for ending in reversed(endings)}
    rows = sql.records(
        f"SELECT id, outcome, actual_micros FROM billing_relayedcall WHERE id IN ({sql.places(ways)}) "
        "AND state <> 'open'",
        [*ways],
    )
    return {row.id for row in rows if ways[row.id] == (row.outcome, row.actual_micros)}
