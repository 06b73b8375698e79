"""The books: accounts, holds and the append-only ledger. Only this module moves money.

Everything but `credit` runs inside the caller's transaction, takes lists and costs one statement per table. Lock order:
tasks, holds, accounts. A submission may lock accounts first, because nobody else can wait for its new tasks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, transaction

from billing import budget_sums, budget_windows
from common import sql
from common.database import writes
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """A hold to close; `actual_micros` is charged, and None releases it."""

    reference: str
    account_id: int
    actual_micros: int | None


class UnbalancedHold(Exception):
    """A subject ends whose hold is not open: the books would be wrong, so the transaction must not commit."""


def lock_accounts(account_ids: Iterable[int], *, only_free: bool = False) -> dict[int, AccountState]:
    """Lock these accounts in id order and read them. A statement of its own: what is counted after it is current.

    With `only_free` those that somebody else holds are left out, and nobody is waited for.
    """
    rows = sql.records(
        "SELECT id, balance_micros, held_micros, max_queued, has_budgets, live_at_most FROM accounts_account "
        f"WHERE id {sql.listed('bigint')} ORDER BY id{sql.row_lock(skip_locked=only_free)}",
        [sql.values(set(account_ids))],
    )
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


def reserving(*, reference: str, account: str, key: str, amount: str, budget_day: str, live: str = "") -> list[str]:
    """The writes that open a hold for each of some rows (`sql.write_together`), of these columns. The caller has locked
    the accounts and checked that each can pay, and writes what it has taken of budgets. Where the rows are tasks,
    `live` is the most that their account had before them."""
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
    """The same on its own."""
    sql.write_together(
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


def closing(*, reference: str, account: str, held: str, actual: str) -> list[str]:
    """The writes that close a hold for each of some rows (`sql.write_together`), and book it; `held` is its amount.
    The caller has locked the accounts, and raises UnbalancedHold unless the first returns as many references as there
    are rows."""
    return [
        f"UPDATE billing_hold SET state = CASE WHEN {actual} IS NULL THEN 'released' ELSE 'settled' END, "
        f"closed_at = {sql.now()} FROM {{rows}} "
        f"WHERE billing_hold.reference = {reference} AND {sql.unindexed('billing_hold.state')} = 'open' "
        "RETURNING billing_hold.reference",
        "INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros, reason, at) "
        f"SELECT {reference}, 'charge', b.book, CASE b.book WHEN 'customer' THEN {account} END, "
        f"CASE b.book WHEN 'customer' THEN -{actual} ELSE {actual} END, '', {sql.now()} FROM {{rows}} "
        f"CROSS JOIN (SELECT 'customer' AS book UNION ALL SELECT 'revenue') AS b WHERE {actual} <> 0",
        "UPDATE accounts_account AS a SET balance_micros = a.balance_micros - s.charged, "
        "held_micros = a.held_micros - s.held FROM ("
        f"SELECT {account} AS account, CAST(sum(COALESCE({actual}, 0)) AS bigint) AS charged, "
        f"CAST(sum({held}) AS bigint) AS held FROM {{rows}} GROUP BY {account}) AS s WHERE a.id = s.account",
    ]


def closing_holds(closings: Sequence[Closing]) -> list[Write]:
    """The write that settles or releases each hold; `settle` takes what it returns."""
    states = [
        {"reference": c.reference, "state": "released" if c.actual_micros is None else "settled"} for c in closings
    ]
    return writes.of_rows(
        f"UPDATE billing_hold SET state = r.state, closed_at = {sql.now()} FROM {{rows}} "
        f"WHERE billing_hold.reference = r.reference AND {sql.unindexed('billing_hold.state')} = 'open' "
        "RETURNING billing_hold.reference, billing_hold.amount_micros",
        "reference text, state text",
        states,
    )


def settle(closings: Sequence[Closing], closed: Iterable[tuple[str, int]]) -> None:
    """Lock the accounts of holds that were just closed, book the charges and move the accounts. Two statements, and one
    more where an account has budgets.

    Raises UnbalancedHold unless every hold was open.
    """
    held = dict(closed)
    if len(held) != len(closings):
        raise UnbalancedHold(str({c.reference for c in closings} - held.keys()))
    changes = _sums((c.account_id, -(c.actual_micros or 0), -held[c.reference]) for c in closings)
    accounts = lock_accounts(changes)
    close_budgets({c.reference: c.actual_micros or 0 for c in closings if accounts[c.account_id].has_budgets})
    writes.run([*_charging(closings), *_moving(changes)])


def close_budgets(actuals: Mapping[str, int]) -> None:
    """The part of budgets in the end of these holds, whose accounts are locked and have some. No statement for none."""
    if actuals:
        budget_sums.close(actuals)


def credit(account_id: int, amount_micros: int, *, reference: str, reason: str) -> None:
    """Book money in (or, negative, out) once per reference. Opens its own transaction.

    Raises ValueError for a zero amount or a reference that is booked already.
    """
    if amount_micros == 0:
        raise ValueError("a credit of zero is no credit")
    legs: list[dict[str, object]] = [
        {"reference": reference, "book": "customer", "account": account_id, "amount": amount_micros},
        {"reference": reference, "book": "funding", "account": None, "amount": -amount_micros},
    ]
    try:
        with transaction.atomic():
            lock_accounts([account_id])
            writes.run([_inserting(legs, kind="credit", reason=reason), *_moving({account_id: (amount_micros, 0)})])
    except IntegrityError as error:
        raise ValueError(f"{reference} is booked already") from error


def give_back(account_id: int, amount_micros: int, *, reference: str, reason: str) -> None:
    """Book part of a charge, or all of it, back to its customer. The caller has locked the account and judged the
    amount (`billing/refunds.py`)."""
    legs: list[dict[str, object]] = [
        {"reference": reference, "book": "customer", "account": account_id, "amount": amount_micros},
        {"reference": reference, "book": "revenue", "account": None, "amount": -amount_micros},
    ]
    writes.run([_inserting(legs, kind="refund", reason=reason), *_moving({account_id: (amount_micros, 0)})])


def _charging(closings: Iterable[Closing]) -> list[Write]:
    legs: list[dict[str, object]] = []
    for closing in closings:
        if closing.actual_micros:
            amount, reference = closing.actual_micros, closing.reference
            legs.append({"reference": reference, "book": "customer", "account": closing.account_id, "amount": -amount})
            legs.append({"reference": reference, "book": "revenue", "account": None, "amount": amount})
    return [_inserting(legs, kind="charge", reason="")] if legs else []


def _inserting(legs: list[dict[str, object]], *, kind: str, reason: str) -> Write:
    statement = (
        "INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros, reason, at) "
        f"SELECT r.reference, %s, r.book, r.account, r.amount, %s, {sql.now()} "
        f"FROM {sql.rows('reference text, book text, account bigint, amount bigint')}"
    )
    return Write(statement, [kind, reason, sql.pack(legs)])


def _sums(moves: Iterable[tuple[int, int, int]]) -> dict[int, tuple[int, int]]:
    """(account, balance change, held change) added up per account."""
    total: dict[int, tuple[int, int]] = {}
    for account_id, balance, held in moves:
        before = total.get(account_id, (0, 0))
        total[account_id] = (before[0] + balance, before[1] + held)
    return total


def _moving(changes: Mapping[int, tuple[int, int]]) -> list[Write]:
    if not changes:
        return []
    rows = sql.few_rows("id bigint, balance bigint, held bigint", len(changes))
    statement = (
        "UPDATE accounts_account AS a SET balance_micros = a.balance_micros + r.balance, "
        f"held_micros = a.held_micros + r.held FROM {rows} WHERE a.id = r.id"
    )
    changed = ({"id": i, "balance": balance, "held": held} for i, (balance, held) in changes.items())
    return [Write(statement, [sql.pack(changed)])]
