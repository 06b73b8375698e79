"""Accept submissions again."""

from typing import Any

from desk.commands.command import DeskCommand
from desk.commands.subjects import show_service
from tasks import switches


class Command(DeskCommand):
    help = "Accept submissions again."

    def answer(self, **options: Any) -> dict[str, object]:
        return show_service(switches.resume())
