"""Give a key a new secret and show it once."""

from typing import Any

from django.core.management.base import CommandParser

from accounts import keys
from desk.commands import subjects
from desk.commands.command import DeskCommand, whole


class Command(DeskCommand):
    help = "Give a key a new secret; its tasks, idempotency scope and stream stay. The new secret is shown this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("key_id", metavar="KEY_ID")
        parser.add_argument("--grace", metavar="SECONDS", default="0", help="the old secret works for this long")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        grace_seconds = whole("--grace", options["grace"])
        key = subjects.key("KEY_ID", options["key_id"])
        secret = keys.rotate(key, grace_seconds=grace_seconds)
        return {**subjects.show_key(key), "key": secret, "grace_seconds": grace_seconds}
