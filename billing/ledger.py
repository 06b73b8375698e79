"""The books: accounts, holds and the append-only ledger. Only this module moves money.

Everything but `credit` runs inside the caller's transaction, takes lists and costs one statement per table. Lock order:
tasks or calls, accounts, holds. A submission may lock accounts first, because nobody else can wait for its new tasks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import IntegrityError, transaction

from billing import budget_sums, budget_windows
from common import sql
from common.database import time_limits, writes
from common.database.writes import Write


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountState:
    """A locked account. Money in micro-USD."""

    balance_micros: int
    held_micros: int
    max_queued: int
    has_budgets: bool = False
    live_at_most: int | None = None

    @property
    def available_micros(self) -> int:
        return self.balance_micros - self.held_micros


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """A hold to open for a subject (a task or a relayed call) of a key. `budget_day`: as `billing/budgets.py` says."""

    reference: str
    account_id: int
    key_id: int | None = None
    amount_micros: int
    budget_day: str | None = None


class UnbalancedHold(Exception):
    """A subject ends whose hold is not open: the books would be wrong, so the transaction must not commit."""


def lock_accounts(account_ids: Iterable[int], *, only_free: bool = False) -> dict[int, AccountState]:
    """Lock these accounts in id order and read them. A statement of its own: what is counted after it is current.

    With `only_free` those that somebody else holds are left out, and no other lock of the transaction is waited for
    for long.
    """
    statement = _locking(time_limits.GROUP_LOCK_SECONDS if only_free else None)
    rows = sql.records(statement, [sql.values(set(account_ids))])
    return {
        row.id: AccountState(
            balance_micros=row.balance_micros,
            held_micros=row.held_micros,
            max_queued=row.max_queued,
            has_budgets=bool(row.has_budgets),
            live_at_most=row.live_at_most,
        )
        for row in rows
    }


@cache
def _locking(free_seconds: float | None) -> str:
    bound = "" if free_seconds is None else f", {sql.lock_timeout(free_seconds)}"
    return (
        f"SELECT id, balance_micros, held_micros, max_queued, has_budgets, live_at_most{bound} FROM accounts_account "
        f"WHERE id {sql.listed('bigint')} ORDER BY id{sql.row_lock(skip_locked=free_seconds is not None)}"
    )


def reserving(*, reference: str, account: str, key: str, amount: str, budget_day: str, live: str = "") -> list[str]:
    """Make the writes that open a hold for each of some rows (`writes.write_together`), of these columns. The caller
    has locked the accounts and checked that each can pay, and writes what it has taken of budgets. Where the rows are
    tasks, `live` is the most that their account had before them."""
    grown, sets = (f", max({live}) + count(*) AS live", ", live_at_most = s.live") if live else ("", "")
    return [
        "INSERT INTO billing_hold (reference, account_id, key_id, amount_micros, state, created_at, budget_day) "
        f"SELECT {reference}, {account}, {key}, {amount}, 'open', {sql.now()}, {budget_windows.as_date(budget_day)} "
        "FROM {rows} WHERE true",
        f"UPDATE accounts_account AS a SET held_micros = a.held_micros + s.held{sets} FROM ("
        f"SELECT {account} AS account, CAST(sum({amount}) AS bigint) AS held{grown} FROM {{rows}} GROUP BY {account}"
        ") AS s WHERE a.id = s.account",
    ]


def reserve(reservations: list[Reservation]) -> None:
    """Open these holds. The caller has locked the accounts and checked that each can pay."""
    writes.write_together(
        "reference text, account bigint, key bigint, amount bigint, budget_day text",
        [
            {
                "reference": r.reference,
                "account": r.account_id,
                "key": r.key_id,
                "amount": r.amount_micros,
                "budget_day": r.budget_day,
            }
            for r in reservations
        ],
        reserving(
            reference="r.reference", account="r.account", key="r.key", amount="r.amount", budget_day="r.budget_day"
        ),
    )


SETTLING_COLUMNS = "id text, account bigint, charge bigint"
"""Of a subject that ends: its id, its account, and what it is charged; null releases its hold."""


def settle(
    ends: Sequence[Mapping[str, Any]],
    accounts: Mapping[int, AccountState],
    *,
    columns: str = SETTLING_COLUMNS,
    statements: Sequence[str] = (),
    others: Sequence[Write] = (),
) -> None:
    """Close the hold of each subject that ends, book its charge and move its account, whose state `accounts` has, for
    it is locked. One statement (SQLite: one for each write), and one more where an account has budgets.

    The `columns` of the ends hold SETTLING_COLUMNS. `statements`, which read the ends, and `others` are written
    with it. Raises UnbalancedHold unless every hold was open.
    """
    rows = writes.packed(columns, ends)
    closed = writes.run([*others, *(Write(statement, rows) for statement in (*statements, *settling()))])
    if len(closed) != len(ends):
        raise UnbalancedHold(str({end["id"] for end in ends} - {reference for (reference,) in closed}))
    limited = {end["id"]: end["charge"] or 0 for end in ends if accounts[end["account"]].has_budgets}
    if limited:
        budget_sums.close(limited)


@cache
def settling() -> tuple[str, ...]:
    """Make the writes of `settle` on holds, ledger and accounts; the last returns the ids. Each looks for holds that
    are open: a subject that ends twice is told as such, and not as a constraint of the ledger."""
    is_open = f"{sql.unindexed('billing_hold.state')} = 'open'"
    ends = f"{{rows}} JOIN billing_hold ON billing_hold.reference = r.id AND {is_open}"
    return (
        "INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros, reason, at) "
        "SELECT r.id, 'charge', b.book, CASE b.book WHEN 'customer' THEN r.account END, "
        f"CASE b.book WHEN 'customer' THEN -r.charge ELSE r.charge END, '', {sql.now()} FROM {ends} "
        "CROSS JOIN (SELECT 'customer' AS book UNION ALL SELECT 'revenue') AS b WHERE r.charge <> 0",
        "UPDATE accounts_account AS a SET balance_micros = a.balance_micros - s.charged, "
        "held_micros = a.held_micros - s.held FROM ("
        "SELECT r.account, CAST(sum(COALESCE(r.charge, 0)) AS bigint) AS charged, "
        f"CAST(sum(billing_hold.amount_micros) AS bigint) AS held FROM {ends} GROUP BY r.account) AS s "
        "WHERE a.id = s.account",
        "UPDATE billing_hold SET state = CASE WHEN r.charge IS NULL THEN 'released' ELSE 'settled' END, "
        f"closed_at = {sql.now()} FROM {{rows}} WHERE billing_hold.reference = r.id AND {is_open} "
        "RETURNING billing_hold.reference",
    )


def credit(account_id: int, amount_micros: int, *, reference: str, reason: str) -> None:
    """Book money in (or, negative, out) once per reference. Opens its own transaction.

    Raises ValueError for a zero amount or a reference that is booked already.
    """
    if amount_micros == 0:
        raise ValueError("a credit of zero is no credit")
    try:
        with transaction.atomic():
            lock_accounts([account_id])
            _book("credit", "funding", account_id, amount_micros, reference, reason)
    except IntegrityError as error:
        raise ValueError(f"{reference} is booked already") from error


def give_back(account_id: int, amount_micros: int, *, reference: str, reason: str) -> None:
    """Book part of a charge, or all of it, back to its customer. The caller has locked the account and judged the
    amount (`billing/refunds.py`)."""
    _book("refund", "revenue", account_id, amount_micros, reference, reason)


def _book(kind: str, counter_book: str, account_id: int, amount_micros: int, reference: str, reason: str) -> None:
    """Move an account's balance, with both legs: the customer's, and that of the book which the money comes from."""
    shared = {"reference": reference, "kind": kind, "reason": reason}
    legs: list[dict[str, Any]] = [
        {**shared, "book": "customer", "account": account_id, "amount": amount_micros},
        {**shared, "book": counter_book, "account": None, "amount": -amount_micros},
    ]
    writes.write_together(
        "reference text, kind text, book text, account bigint, amount bigint, reason text",
        legs,
        [
            "INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros, reason, at) "
            f"SELECT r.reference, r.kind, r.book, r.account, r.amount, r.reason, {sql.now()} FROM {{rows}}",
            "UPDATE accounts_account SET balance_micros = balance_micros + r.amount "
            "FROM {rows} WHERE accounts_account.id = r.account",
        ],
    )
