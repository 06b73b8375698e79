"""Command that deletes what retention no longer keeps, as the worker's janitor does continuously."""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common.errors import StorageUnavailable
from desk.commands.command import DeskCommand
from tasks.assets import retention, stored_inputs


class Command(DeskCommand):
    help = (
        "Delete the bytes of assets past ASSET_RETENTION, the payloads of tasks past PAYLOAD_RETENTION, and the stored "
        "inputs of tasks that ended without a charge."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only count what would be deleted")

    def answer(self, **options: Any) -> Mapping[str, object]:
        try:
            if options["dry_run"]:
                pruned, inputs, files = retention.due(), stored_inputs.due(), 0
            else:
                pruned, inputs, files = retention.prune(), sum(stored_inputs.batches()), retention.sweep()
        except StorageUnavailable as error:
            raise CommandError(
                "asset storage is unavailable; the log says why. Run this command again afterwards."
            ) from error
        return {
            "assets": pruned.assets,
            "payloads": pruned.payloads,
            "inputs": inputs,
            "temporary_files": files,
            "dry_run": options["dry_run"],
        }
