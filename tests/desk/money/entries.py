"""Ledger entries of any moment: the ledger itself writes only those of now, and lets none be changed."""

from datetime import datetime

from accounts.models import Account
from billing.models import LedgerEntry
from common import sql

OTHER_BOOKS = {"credit": "funding", "charge": "revenue", "refund": "revenue"}


def book(
    account: Account, at: datetime, micros: int, kind: str = "credit", *, reference: str, reason: str = ""
) -> None:
    """Both legs, and the account's balance."""
    legs = (("customer", account, micros), (OTHER_BOOKS[kind], None, -micros))
    for book_name, owner, amount in legs:
        LedgerEntry.objects.create(
            reference=reference, kind=kind, book=book_name, account=owner, amount_micros=amount, reason=reason, at=at
        )
    sql.run("UPDATE accounts_account SET balance_micros = balance_micros + %s WHERE id = %s", [micros, account.pk])
