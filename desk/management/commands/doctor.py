"""Command that checks the installation and exits with status 1 on any error."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError

from desk.commands import doctor
from desk.commands.command import DeskCommand
from desk.commands.doctor import Finding


class Command(DeskCommand):
    help = "Check configuration, adapters, database, storage, channels and workers, and say what to do about it."

    def handle(self, *args: Any, **options: Any) -> None:
        findings = doctor.examine()
        errors = sum(finding.level == "error" for finding in findings)
        if options["json"]:
            answer = {"ok": not errors, "findings": [asdict(finding) for finding in findings]}
            self.stdout.write(json.dumps(answer))
        else:
            self.stdout.writelines(f"{line(finding)}\n" for finding in findings)
        if errors:
            raise CommandError(f"{errors} of these must be fixed")


def line(finding: Finding) -> str:
    advice = f" → {finding.advice}" if finding.advice else ""
    return f"{finding.level:8}{finding.check}: {finding.message}{advice}"
