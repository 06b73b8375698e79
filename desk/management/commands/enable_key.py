"""Enable a disabled key."""

from typing import Any

from django.core.management.base import CommandParser

from accounts import keys
from desk.commands import subjects
from desk.commands.command import DeskCommand


class Command(DeskCommand):
    help = "Enable a disabled key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key_id", metavar="KEY_ID")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        key = subjects.key("KEY_ID", options["key_id"])
        keys.enable(key)
        key.refresh_from_db()
        return subjects.show_key(key)
