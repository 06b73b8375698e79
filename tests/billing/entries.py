"""Ledger entries of any moment: the ledger itself writes only those of now, and lets none be changed."""

from datetime import datetime

from accounts.models import Account
from common import sql

INSERT = """
INSERT INTO billing_ledgerentry (reference, kind, book, account_id, amount_micros, reason, at)
VALUES (%s, %s, %s, %s, %s, %s, %s)
"""
OTHER_BOOKS = {"credit": "funding", "charge": "revenue", "refund": "revenue"}


def book(
    account: Account, at: datetime, micros: int, kind: str = "credit", *, reference: str, reason: str = ""
) -> None:
    """Both legs, and the account's balance."""
    legs = (("customer", account, micros), (OTHER_BOOKS[kind], None, -micros))
    for book_name, owner, amount in legs:
        owner_id = owner.pk if owner else None
        sql.run(INSERT, [reference, kind, book_name, owner_id, amount, reason, sql.moment(at)])
    sql.run("UPDATE accounts_account SET balance_micros = balance_micros + %s WHERE id = %s", [micros, account.pk])
