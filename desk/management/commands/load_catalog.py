"""Apply a catalog file."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from catalog.file.load import CatalogFileError, load
from desk.commands.command import DeskCommand
from desk.kit import in_use


class Command(DeskCommand):
    help = "Apply a catalog file in one transaction; applying it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", help="YAML; ${NAME} and ${NAME:-default} come from the environment")
        parser.add_argument("--dry-run", action="store_true", help="check and report, but write nothing")
        parser.add_argument("--prune", action="store_true", help="remove what the file does not name")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        try:
            text = Path(options["file"]).read_text(encoding="utf-8")
            report = load(
                text,
                dry_run=options["dry_run"],
                prune=options["prune"],
                channels_in_use=in_use.channels(),
            )
        except OSError as error:
            raise CommandError(f"FILE: {error.strerror}: {options['file']}") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"FILE: {options['file']} is not UTF-8") from error
        except CatalogFileError as error:
            raise CommandError(str(error)) from error
        parts = {
            "created": report.created,
            "changed": report.changed,
            "unchanged": report.unchanged,
            "removed": report.removed,
            "warnings": report.warnings,
        }
        if options["json"]:
            return {"dry_run": options["dry_run"], **parts}
        note: dict[str, object] = {"dry run": "nothing is written"} if options["dry_run"] else {}
        return note | {name: listed(lines) for name, lines in parts.items()}


def listed(lines: Sequence[str]) -> str:
    """Format the number of lines, then each line."""
    return "".join([str(len(lines)), *(f"\n  {line}" for line in lines)])
