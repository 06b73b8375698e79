"""Command that encrypts every stored secret with the first of ENCRYPTION_KEYS and tells when older keys can go."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from common import money
from desk.commands import reencryption
from desk.commands.command import DeskCommand
from desk.commands.reencryption import KeyNeeds


class Command(DeskCommand):
    help = "Encrypt every stored secret with the first of ENCRYPTION_KEYS. It may be interrupted and run again."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only report which keys are needed")

    def handle(self, *args: Any, **options: Any) -> None:
        moved = {} if options["dry_run"] else dict(reencryption.move_all())
        survey = reencryption.survey()
        can_go = not survey.under_older and not survey.closed
        if options["json"]:
            self.stdout.write(
                money.dumps(
                    {
                        "ok": can_go,
                        "dry_run": options["dry_run"],
                        "moved": moved,
                        "under_first_key": survey.under.get(0, 0),
                        "under_older_keys": [
                            {"key": place + 1, "secrets": count} for place, count in survey.under_older.items()
                        ],
                        "cannot_be_opened": list(survey.closed),
                        "old_keys_can_go": can_go,
                    }
                )
            )
        else:
            self.stdout.writelines(f"{line}\n" for line in told(moved, survey))
        if not can_go and not options["dry_run"]:
            sys.exit(1)


def told(moved: dict[str, int], survey: KeyNeeds) -> list[str]:
    lines = [f"moved: {count} of {kind}" for kind, count in moved.items()] or ["moved: nothing"]
    lines.append(f"under the first key: {survey.under.get(0, 0)}")
    lines += [
        f"still under key {place + 1} of ENCRYPTION_KEYS: {count}; it must stay"
        for place, count in survey.under_older.items()
    ]
    lines += [f"no key opens {each}: restore its key, or enter the secret again" for each in survey.closed]
    if survey.under_older or survey.closed:
        return [*lines, "The older keys cannot go yet."]
    if len(settings.ENCRYPTION_KEYS) == 1:
        return [*lines, "There is no older key."]
    return [*lines, "The older keys can go once no process uses the previous list. Earlier dumps still need them."]
