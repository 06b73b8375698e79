"""`check_ledger`: prove that the books are right; exit 1 and a list on any breach."""

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from tasks import ledger_check


class Command(BaseCommand):
    help = "Check every rule of the ledger."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def handle(self, *args: Any, **options: Any) -> None:
        report = ledger_check.check()
        if options["json"]:
            self.stdout.write(json.dumps({"ok": not report.breaches, **asdict(report)}))
        else:
            for breach in report.breaches:
                self.stdout.write(f"{breach.rule}: {breach.subject}: {breach.detail}")
            counts = f"{report.tasks} tasks, {report.entries} entries, {report.open_holds} open holds"
            self.stdout.write(f"{'BROKEN' if report.breaches else 'ok'}: {counts}")
        if report.breaches:
            sys.exit(1)
