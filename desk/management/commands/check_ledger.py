"""Command that verifies the ledger; it lists breaches and exits with status 1 on any."""

import json
import sys
from dataclasses import asdict
from typing import Any

from desk.commands.command import DeskCommand
from tasks import ledger_check


class Command(DeskCommand):
    help = "Check every rule of the ledger."

    def handle(self, *args: Any, **options: Any) -> None:
        report = ledger_check.check()
        if options["json"]:
            self.stdout.write(json.dumps({"ok": not report.breaches, **asdict(report)}))
        else:
            for breach in report.breaches:
                self.stdout.write(f"{breach.rule}: {breach.subject}: {breach.detail}")
            subjects = f"{report.tasks} tasks, {report.relayed_calls} relayed calls"
            counts = f"{subjects}, {report.entries} entries, {report.open_holds} open holds"
            self.stdout.write(f"{'BROKEN' if report.breaches else 'ok'}: {counts}")
        if report.breaches:
            sys.exit(1)
