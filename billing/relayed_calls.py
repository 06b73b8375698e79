"""Relayed calls in the books: reserved before anything is sent, ended once by the usage that was seen.

Everything takes lists. The hold of a call has its id as reference. Lock order: calls by id, accounts by id, and only
then what hangs on them: holds, entries and the aggregates of their keys. A reservation locks accounts alone, because
nobody else can wait for its new calls.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from django.db import OperationalError, connection, transaction

from billing import ledger
from billing.ledger import AccountState, UnbalancedHold
from common import ids, sql
from common.database_retry import AWAY
from common.errors import InsufficientBalance
from common.lost_commits import is_doubtful
from common.token_usage import TokenUsage

PREFIX = "call_"
LONGEST_MODEL = 200
COUNTS = tuple(each.name for each in fields(TokenUsage))
COUNT_COLUMNS = ", ".join(f"{name} bigint" for name in COUNTS)


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
    """The end of a call; `actual_micros` is charged, and None releases it."""

    call_id: str
    account_id: int
    actual_micros: int | None
    usage: TokenUsage | None
    outcome: str
    is_estimated: bool = False
    is_loss: bool = False
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

    Two statements in one transaction (SQLite: four). Raises ProcessDeclaredDead, and ReservationUnknown where the
    answer to the commit was lost and the database cannot be asked; whatever it raises else, nothing was written.
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
            outcomes = _judge([call for call in calls if call.account_id in accounts], accounts)
            payable = [call for call in calls if outcomes.get(call.call_id, call) is None]
            if payable:
                _insert(payable)
            written = payable
    except AWAY as error:
        if not written or not _took_place(written, error):
            raise
    return outcomes


def _judge(calls: Sequence[NewCall], accounts: Mapping[int, AccountState]) -> dict[str, InsufficientBalance | None]:
    """In arrival order and with running totals."""
    available = {account: state.available_micros for account, state in accounts.items()}
    outcomes: dict[str, InsufficientBalance | None] = {}
    for call in calls:
        if available[call.account_id] < call.estimated_micros:
            message = "The available balance does not cover what this call may cost."
            outcomes[call.call_id] = InsufficientBalance(message)
        else:
            available[call.account_id] -= call.estimated_micros
            outcomes[call.call_id] = None
    return outcomes


def _took_place(calls: Sequence[NewCall], error: Exception) -> bool:
    """Whether the transaction that wrote them was committed, although the commit failed like this."""
    if not is_doubtful(error):
        return False
    connection.close()
    try:
        _outlive({call.account_id for call in calls})
        return bool(sql.fetch("SELECT 1 FROM billing_relayedcall WHERE id = %s", [calls[0].call_id]))
    except AWAY:
        raise ReservationUnknown(*error.args) from error


def _outlive(account_ids: Iterable[int]) -> None:
    """Wait until whatever is left of a lost connection has let go of these accounts: then it is committed or undone."""
    with transaction.atomic():
        ledger.lock_accounts(account_ids)


def _insert(calls: Sequence[NewCall]) -> None:
    """Calls, holds and accounts: one statement (SQLite: three)."""
    opened = sql.write_together(
        NEW_COLUMNS,
        [_row(call) for call in calls],
        [
            INSERT_CALLS.format(now=sql.now(), rows="{rows}"),
            *ledger.reserving(reference="r.id", account="r.account", amount="r.estimated"),
        ],
    )
    if len(opened) != len(calls):
        raise ProcessDeclaredDead(str({call.process_id for call in calls}))


# What joins no process that is alive is missing among what it returns, and then all of it is undone.
INSERT_CALLS = """
INSERT INTO billing_relayedcall (id, account_id, key_id, group_id, process, model, dialect, channel_id, is_stream,
    state, created_at, estimated_micros, price, request_id)
SELECT r.id, r.account, r.key, r.group_id, r.process, r.model, r.dialect, r.channel, r.is_stream,
    'open', {now}, r.estimated, r.price, r.request_id
FROM {rows} JOIN billing_webprocess p ON p.id = r.process AND p.stopped_at IS NULL WHERE true RETURNING id
"""
NEW_COLUMNS = (
    "id text, account bigint, key bigint, group_id bigint, process text, model text, dialect text, channel bigint, "
    "is_stream bool, estimated bigint, price json, request_id text"
)


def _row(call: NewCall) -> dict[str, Any]:
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
    }


def note(seen: Sequence[SeenUsage]) -> None:
    """Write down what open calls have used, for whoever has to end them where this process dies. One statement; of
    several for one call the last counts. Calls that are being ended are passed over."""
    latest = {each.call_id: each for each in seen}
    rows = [{"id": s.call_id, "micros": s.actual_micros, **asdict(s.usage)} for s in latest.values()]
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

    Three statements in one transaction (SQLite: seven). It may be repeated after a commit whose answer was lost, of
    the calls' ends or of their reservations; then those that have ended in just this way count as ended by it.
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
    """The same without waiting for calls and accounts that somebody else holds: the ids of those that it ended.

    One statement, which is its own transaction (SQLite: as `end`). It waits for nobody, so that the order of its locks
    decides nothing. A call whose hold is not open it leaves to `end`.
    """
    if not sql.is_postgresql():
        return _end(endings)
    told = [_told(ending) for ending in _first(endings).values()]
    return {ended for (ended,) in sql.write_together(TOLD_COLUMNS, told, _writes(), chosen=FREE.format(day=day()))}


def _end(endings: Sequence[CallEnding]) -> set[str]:
    first = _first(endings)
    with transaction.atomic():
        found = sql.records(OPEN.format(day=day(), ids=sql.places(first), lock=sql.row_lock()), [*first])
        if found:
            ledger.lock_accounts(row.account_id for row in found)
            _write_ends([_ended_row(first[row.id], row) for row in found])
    return {row.id for row in found}


def _first(endings: Sequence[CallEnding]) -> dict[str, CallEnding]:
    """By call: of several ends the first counts."""
    return {ending.call_id: ending for ending in reversed(endings)}


def day() -> str:
    """The UTC day on which a call began, as the SQL expression of a text: that of its aggregate."""
    if sql.is_postgresql():
        return "CAST((created_at AT TIME ZONE 'UTC')::date AS text)"
    return "substr(created_at, 1, 10)"


OPEN = """
SELECT id, account_id, key_id, model, estimated_micros, {day} AS day FROM billing_relayedcall
WHERE id IN ({ids}) AND state = 'open' ORDER BY id{lock}
"""


# Of those `given`: the open ones that nobody holds, with what their rows say.
FREE = """
open AS MATERIALIZED (
    SELECT id, account_id AS account, key_id AS key, model, estimated_micros AS held, {day} AS day
    FROM billing_relayedcall WHERE id IN (SELECT id FROM given) AND state = 'open'
    ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
),
free AS MATERIALIZED (
    SELECT id FROM accounts_account WHERE id IN (SELECT account FROM open) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
),
r AS MATERIALIZED (
    SELECT given.*, open.account, open.key, open.model, open.held, open.day
    FROM given JOIN open ON open.id = given.id JOIN free ON free.id = open.account
    JOIN billing_hold h ON h.reference = given.id AND h.state = 'open'
)
"""


def _told(ending: CallEnding) -> dict[str, Any]:
    return {
        "id": ending.call_id,
        "actual": ending.actual_micros,
        "outcome": ending.outcome,
        "is_estimated": ending.is_estimated,
        "is_loss": ending.is_loss,
        "channel": ending.channel_id,
        "attempts": sql.document(list(ending.attempts)),
        "http_status": ending.http_status,
        **asdict(ending.usage or TokenUsage()),
    }


def _ended_row(ending: CallEnding, row: Any) -> dict[str, Any]:
    of_row = {"account": row.account_id, "key": row.key_id, "model": row.model}
    return {**_told(ending), **of_row, "held": row.estimated_micros, "day": row.day}


def _write_ends(rows: Sequence[Mapping[str, Any]]) -> None:
    """One statement (SQLite: five)."""
    closed = sql.write_together(ENDED_COLUMNS, rows, _writes())
    if len(closed) != len(rows):
        raise UnbalancedHold(str({row["id"] for row in rows} - {reference for (reference,) in closed}))


def _writes() -> list[str]:
    """Holds, entries, accounts, calls and aggregates; the first returns the ids."""
    sums = ", ".join(f"CAST(sum(r.{name}) AS bigint)" for name in COUNTS)
    added = ", ".join(f"{name} = u.{name} + excluded.{name}" for name in COUNTS)
    day = "CAST(r.day AS date)" if sql.is_postgresql() else "r.day"
    return [
        *ledger.closing(reference="r.id", account="r.account", held="r.held", actual="r.actual"),
        END_CALLS.format(now=sql.now(), counts=", ".join(f"{name} = r.{name}" for name in COUNTS), rows="{rows}"),
        ADD_UP.format(day=day, names=", ".join(COUNTS), sums=sums, added=added, rows="{rows}"),
    ]


TOLD_COLUMNS = (
    "id text, actual bigint, outcome text, is_estimated bool, is_loss bool, channel bigint, attempts json, "
    f"http_status bigint, {COUNT_COLUMNS}"
)
ENDED_COLUMNS = f"account bigint, key bigint, model text, held bigint, day text, {TOLD_COLUMNS}"
# They are open, for they are locked. Said again, it leads to the small index of open calls also where the table was
# never analysed and looks small: else the plan that reads all of it would stay while it grows.
END_CALLS = """
UPDATE billing_relayedcall SET state = CASE WHEN r.actual IS NULL THEN 'released' ELSE 'settled' END,
    ended_at = {now}, actual_micros = r.actual, outcome = r.outcome, is_estimated = r.is_estimated,
    is_loss = r.is_loss, channel_id = r.channel, attempts = r.attempts, http_status = r.http_status, {counts}
FROM {rows} WHERE billing_relayedcall.id = r.id AND billing_relayedcall.state = 'open'
"""
ADD_UP = """
INSERT INTO billing_relayusage AS u (key_id, day, model, calls, cost_micros, {names})
SELECT r.key, {day}, r.model, count(*), CAST(sum(r.actual) AS bigint), {sums}
FROM {rows} WHERE r.actual IS NOT NULL GROUP BY r.key, r.day, r.model
ON CONFLICT (key_id, day, model) DO UPDATE SET calls = u.calls + excluded.calls,
    cost_micros = u.cost_micros + excluded.cost_micros, {added}
"""


def _ended_alike(endings: Sequence[CallEnding]) -> set[str]:
    """The ids of those that have ended with this outcome and charge."""
    ways = {ending.call_id: (ending.outcome, ending.actual_micros) for ending in reversed(endings)}
    rows = sql.records(
        f"SELECT id, outcome, actual_micros FROM billing_relayedcall WHERE id IN ({sql.places(ways)}) "
        "AND state <> 'open'",
        [*ways],
    )
    return {row.id for row in rows if ways[row.id] == (row.outcome, row.actual_micros)}
