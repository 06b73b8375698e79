"""Explain which routes would run a request that was never sent."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from common import modalities, strict_json
from common.errors import ApiError, InvalidRequest
from desk import explain, subjects
from desk.command import DeskCommand, choice, refusal

STDIN = "-"


class Command(DeskCommand):
    help = "Tell every route that a request could take and why it would, or would not. Nothing is stored or sent."
    error: ApiError | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a name or alias")
        parser.add_argument("params", metavar="PARAMS.json", help="the params object; - for standard input")
        parser.add_argument("--key", metavar="NAME", required=True, help="name or id of the key that would submit")
        parser.add_argument("--modality", metavar="M", help=", ".join(modalities.NAMES))
        super().add_arguments(parser)

    def answer(self, **options: Any) -> Mapping[str, object]:
        key = subjects.named_key("--key", options["key"])
        document = {"model": options["model"], "params": params(options["params"])}
        if options["modality"] is not None:
            document["modality"] = choice("--modality", options["modality"], modalities.NAMES)
        found = explain.explain(key, document)
        self.error = found.outcome if isinstance(found.outcome, ApiError) else None
        answer = explain.shown(found)
        return answer if options["json"] else explain.listed(answer)

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.error is not None:
            raise CommandError(f"{self.error.type}: {self.error.message}")


def params(path: str) -> dict[str, Any]:
    """The object in a file or on standard input. Raises CommandError."""
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise refusal("PARAMS.json", path, f"cannot be read: {error.strerror}") from error
    try:
        return strict_json.loads_object(raw)
    except InvalidRequest as error:
        raise CommandError(f"PARAMS.json: {error.message}") from error
