"""Write the stored catalog as a catalog file."""

import os
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalog.file.dump import dump
from desk.commands.command import DeskCommand


class Command(DeskCommand):
    help = "Write the stored catalog as a file; loading it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", nargs="?", help="standard output without it")
        parser.add_argument(
            "--with-credentials", action="store_true", help="credentials in the clear instead of encrypted"
        )
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        text = dump(with_credentials=options["with_credentials"])
        if options["file"] is None:
            return {"catalog": text}
        try:
            opened = os.open(options["file"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with open(opened, "w", encoding="utf-8") as to:
                if options["with_credentials"]:
                    os.fchmod(opened, 0o600)  # also for an existing file
                to.write(text)
        except OSError as error:
            raise CommandError(f"FILE: {error.strerror}: {options['file']}") from error
        return {"file": options["file"]}

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"] is None and not options["json"]:
            self.stdout.write(dump(with_credentials=options["with_credentials"]), ending="")
        else:
            super().handle(*args, **options)
