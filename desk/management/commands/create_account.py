"""Open an account."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from accounts.models import Account
from billing import ledger
from desk.commands import budget_words
from desk.commands.command import DeskCommand, choice, refusal, text, usd, whole
from desk.commands.subjects import show_account


class Command(DeskCommand):
    help = "Open an account."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME")
        parser.add_argument("--credit", metavar="USD", default="0", help="opening balance")
        parser.add_argument("--billing", metavar="balance|subscription", default=Account.Billing.BALANCE.value)
        parser.add_argument("--max-queued", metavar="N", default=Account._meta.get_field("max_queued").default)
        parser.add_argument("--max-running", metavar="N", default=Account._meta.get_field("max_running").default)
        parser.add_argument("--budget", metavar="day=USD,month=USD", default="none", help="what it may spend; UTC")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        account = Account(
            name=text("NAME", options["name"], at_most=200),
            billing=choice("--billing", options["billing"], Account.Billing.values),
            max_queued=whole("--max-queued", options["max_queued"]),
            max_running=whole("--max-running", options["max_running"]),
        )
        credit = usd("--credit", options["credit"])
        if credit < 0:
            raise refusal("--credit", options["credit"], "is negative")
        limits = budget_words.parse("--budget", options["budget"])
        if Account.objects.filter(name=account.name).exists():
            raise CommandError(f"NAME: there is an account {account.name!r} already")
        with transaction.atomic():
            account.save()
            budget_words.give(account, limits)
            if credit:
                ledger.credit(account.pk, credit, reference=f"opening-{account.pk}", reason="opening balance")
        account.refresh_from_db()
        return show_account(account)
