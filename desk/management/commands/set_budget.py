"""Set the budgets of an account or a key."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from desk.commands import budget_words, subjects
from desk.commands.command import DeskCommand


class Command(DeskCommand):
    help = "Set what an account or a key may spend per UTC day and month. Earlier spending in them counts."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("budget", metavar="day=USD,month=USD|none", help="an omitted part is unlimited")
        parser.add_argument("--account", metavar="NAME")
        parser.add_argument("--key", metavar="KEY_ID")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        limits = budget_words.parse("BUDGET", options["budget"])
        if (options["account"] is None) == (options["key"] is None):
            raise CommandError("--account, --key: give one of them")
        if options["key"] is not None:
            key = subjects.key("--key", options["key"])
            budget_words.give(key, limits)
            return subjects.show_key(key)
        account = subjects.account("--account", options["account"])
        budget_words.give(account, limits)
        return subjects.show_account(account)
