"""Disable a key."""

from typing import Any

from django.core.management.base import CommandParser

from accounts import keys
from desk.commands import subjects
from desk.commands.command import DeskCommand


class Command(DeskCommand):
    help = "Disable a key from the next request on. Callbacks of its tasks are still signed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key_id", metavar="KEY_ID")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        key = subjects.key("KEY_ID", options["key_id"])
        keys.disable(key)
        key.refresh_from_db()
        return subjects.show_key(key)
