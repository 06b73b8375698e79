"""Switch the Task API off: every /v1/tasks path answers 503."""

from typing import Any

from desk.commands.command import DeskCommand
from desk.commands.subjects import show_service
from tasks import switches


class Command(DeskCommand):
    help = "Switch the Task API off: every /v1/tasks path answers 503."

    def answer(self, **options: Any) -> dict[str, object]:
        return show_service(switches.disable_api())
