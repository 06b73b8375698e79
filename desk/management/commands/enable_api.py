"""Switch the Task API on again."""

from typing import Any

from desk.commands.command import DeskCommand
from desk.commands.subjects import show_service
from tasks import switches


class Command(DeskCommand):
    help = "Switch the Task API on again."

    def answer(self, **options: Any) -> dict[str, object]:
        return show_service(switches.enable_api())
