"""Command that seals the entries since the last seal, as the worker's janitor does once a day."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from billing import seals
from desk.commands.command import DeskCommand


class Command(DeskCommand):
    help = "Seal the ledger's new entries with a SHA-256 that is chained to the last seal; check_ledger verifies it."

    def answer(self, **options: Any) -> Mapping[str, object]:
        sealed = seals.seal()
        if sealed.held_up:
            raise CommandError(
                "a transaction that writes to the ledger does not end. Run this command again afterwards."
            )
        last = seals.last_end()
        return {
            "sealed": sealed.number is not None,
            "entries": sealed.entries,
            "seal": last.number or None,
            "last_entry_id": last.last_entry_id or None,
            "sha256": last.sha256 if last.number else None,
        }
