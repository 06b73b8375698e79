"""Books the history's money: holds, charges, and the credits that keep every account able to pay. Pure until written.

Each booking has two legs that sum to zero, and no account ever holds more than it has.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from accounts.models import Account
from billing.models import Hold, LedgerEntry
from tools.seed.customers import Payer
from tools.seed.rows import HistoryRows, Money

LOW_MICROS = 25_000_000
"""Available amount below which the customer pays in again."""
DOLLAR = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """A booking that an operator made by hand, at this share of the history's time."""

    share: float
    amount_micros: int
    reason: str


ADJUSTMENTS = (
    Adjustment(share=0.35, amount_micros=12 * DOLLAR, reason="Goodwill for the outage of channel studio"),
    Adjustment(share=0.6, amount_micros=-18_500_000, reason="Correction: the transfer of the 12th was booked twice"),
)


@dataclass(slots=True, kw_only=True)
class AccountMoney:
    """An account's money during the history."""

    payer: Payer
    rng: random.Random
    entries: list[LedgerEntry]
    balance: int = 0
    held: int = 0
    refills: int = 0

    def book(self, reference: str, kind: str, book: str, amount: int, at: datetime, reason: str = "") -> None:
        """Books two legs: the customer's and the other one."""
        legs = (("customer", self.payer.account.pk, amount), (book, None, -amount))
        for name, account_id, leg in legs:
            self.entries.append(
                LedgerEntry(
                    reference=reference,
                    kind=kind,
                    book=name,
                    account_id=account_id,
                    amount_micros=leg,
                    reason=reason,
                    at=at,
                )
            )
        self.balance += amount

    def credit(self, amount: int, at: datetime, reason: str) -> None:
        self.book(f"credit-{self.rng.getrandbits(128):032x}", "credit", "funding", amount, at, reason)

    def hold(self, money: Money) -> None:
        if self.balance - self.held - money.held_micros < LOW_MICROS:
            self.refills += 1
            reason = f"Bank transfer {money.created_at:%Y-%m}/{self.refills:02}"
            self.credit(self.payer.customer.refill_micros, money.created_at - timedelta(milliseconds=1), reason)
        self.held += money.held_micros

    def close(self, money: Money) -> None:
        self.held -= money.held_micros
        if money.charged_micros:
            self.book(money.reference, "charge", "revenue", -money.charged_micros, money.ended_at)


def book(rng: random.Random, payers: Sequence[Payer], rows: HistoryRows, since: datetime, until: datetime) -> None:
    """Creates the holds and entries for all rows with money, and sets the accounts' balances."""
    for payer in payers:
        purse = AccountMoney(payer=payer, rng=rng, entries=rows.entries)
        purse.credit(payer.customer.refill_micros, since, "opening balance")
        own = [money for money in rows.money if money.account_id == payer.account.pk]
        _go_through(purse, own, since, until)
        Account.objects.filter(pk=payer.account.pk).update(balance_micros=purse.balance)
    rows.holds += map(_hold, rows.money)


def _go_through(purse: AccountMoney, own: Iterable[Money], since: datetime, until: datetime) -> None:
    steps: list[tuple[datetime, int, Money | Adjustment]] = []
    for money in own:
        steps += [(money.created_at, 0, money), (money.ended_at, 1, money)]
    steps += [(since + (until - since) * each.share, 2, each) for each in ADJUSTMENTS]
    for at, kind, step in sorted(steps, key=lambda step: step[:2]):
        if isinstance(step, Adjustment):
            purse.credit(step.amount_micros, at, step.reason)
        elif kind == 0:
            purse.hold(step)
        else:
            purse.close(step)


def _hold(money: Money) -> Hold:
    return Hold(
        reference=money.reference,
        account_id=money.account_id,
        key_id=money.key_id,
        amount_micros=money.held_micros,
        state="released" if money.charged_micros is None else "settled",
        created_at=money.created_at,
        closed_at=money.ended_at,
    )
