"""Book money into an account, or out of it."""

import secrets
from typing import Any

from django.core.management.base import CommandParser

from billing import ledger
from common import money
from desk.commands import subjects
from desk.commands.command import DeskCommand, refusal, text, usd


class Command(DeskCommand):
    help = "Book money into an account, or out of it with a negative amount."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("usd", metavar="USD")
        parser.add_argument("--reason", metavar="TEXT", required=True)
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        amount = usd("USD", options["usd"])
        if amount == 0:
            raise refusal("USD", options["usd"], "is nothing to book")
        reason = text("--reason", options["reason"], at_most=500)
        account = subjects.account("NAME", options["name"])
        reference = f"credit-{secrets.token_hex(16)}"
        ledger.credit(account.pk, amount, reference=reference, reason=reason)
        account.refresh_from_db()
        return {**subjects.show_account(account), "amount": money.usd(amount), "reference": reference}
