"""Pause submissions."""

from typing import Any

from django.core.management.base import CommandParser

from desk.commands.command import DeskCommand, text, whole
from desk.commands.subjects import show_service
from tasks import switches


class Command(DeskCommand):
    help = "Refuse submissions; reads, streams, cancellations and downloads continue."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--message", metavar="TEXT", help="shown to clients")
        parser.add_argument("--retry-after", metavar="SECONDS", default="60", help="1 to 86400; what clients are told")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        message = "" if options["message"] in (None, "") else text("--message", options["message"], at_most=500)
        seconds = whole("--retry-after", options["retry_after"], at_least=1, at_most=86_400)
        return show_service(switches.pause(message=message, retry_after_seconds=seconds))
