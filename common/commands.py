"""Management commands that say what is wrong in one line on stderr, with exit status 1."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser


class OneLineCommand(BaseCommand):
    """A command whose refused arguments are a CommandError like any other; `--traceback` shows where it came from."""

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.called_from_command_line = False  # its errors become a CommandError too
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except CommandError as error:
            if "--traceback" in argv:
                raise
            self.stderr.write(f"CommandError: {error}")
            sys.exit(error.returncode)
