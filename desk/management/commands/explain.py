"""Explain which routes, or channels of a group, would run a request, without sending it."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from accounts.models import ApiKey
from catalog.groups import IMAGES
from catalog.model_patterns import LONGEST_NAME
from catalog.validation import DIALECTS as TEXT_DIALECTS
from common import modalities, strict_json
from common.errors import ApiError, InvalidRequest
from desk.commands import explain, explain_relay, subjects
from desk.commands.command import DeskCommand, choice, refusal, text, whole
from desk.commands.explain_relay import SupposedCall

STDIN = "-"
DIALECTS = (*TEXT_DIALECTS, IMAGES)


class Command(DeskCommand):
    help = "List every route of a request and why it would or would not be taken. Nothing is stored or sent."
    error: ApiError | None = None

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("model", metavar="MODEL", help="a name or alias")
        parser.add_argument("params", metavar="PARAMS.json", nargs="?", help="of a task; - for standard input")
        parser.add_argument("--key", metavar="NAME", required=True, help="name or id of the key that would submit")
        parser.add_argument("--modality", metavar="M", help=f"of a task: {', '.join(modalities.NAMES)}")
        parser.add_argument("--dialect", metavar="D", help=f"of a general key: {', '.join(DIALECTS)}")
        parser.add_argument("--input-tokens", metavar="N", help="of a general key: tokens that go in (1000)")
        parser.add_argument("--output-tokens", metavar="N", help="of a general key: the limit that the request gives")
        super().add_arguments(parser)

    def answer(self, **options: Any) -> Mapping[str, object]:
        key = subjects.named_key("--key", options["key"])
        if options["params"] is None and key.binding == ApiKey.Binding.GENERAL:
            return self._call(key, options)
        return self._task(key, options)

    def _task(self, key: ApiKey, options: Mapping[str, Any]) -> Mapping[str, object]:
        if options["params"] is None:
            raise CommandError("PARAMS.json: is required, as this is a Task key")
        refuse(options, "dialect", "input_tokens", "output_tokens", reason="is of general keys, and of no task")
        document = {"model": options["model"], "params": params(options["params"])}
        if options["modality"] is not None:
            document["modality"] = choice("--modality", options["modality"], modalities.NAMES)
        found = explain.explain(key, document)
        self.error = found.outcome if isinstance(found.outcome, ApiError) else None
        answer = explain.shown(found)
        return answer if options["json"] else explain.listed(answer)

    def _call(self, key: ApiKey, options: Mapping[str, Any]) -> Mapping[str, object]:
        refuse(options, "modality", reason="is of tasks, and of no general key")
        given = {name: options[name] for name in ("input_tokens", "output_tokens") if options[name] is not None}
        counts = {name: whole(f"--{name.replace('_', '-')}", value) for name, value in given.items()}
        dialect = options["dialect"]
        call = SupposedCall(
            model=text("MODEL", options["model"], at_most=LONGEST_NAME),
            dialect=None if dialect is None else choice("--dialect", dialect, DIALECTS),
            input_tokens=counts.get("input_tokens", 1000),
            output_limit=counts.get("output_tokens"),
        )
        answer, self.error = explain_relay.explain(key, call)
        return answer if options["json"] else explain_relay.listed(answer)

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if self.error is not None:
            raise CommandError(f"{self.error.type}: {self.error.message}")


def refuse(options: Mapping[str, Any], *names: str, reason: str) -> None:
    """Raise CommandError if one of these options is given."""
    for name in names:
        if options[name] is not None:
            raise CommandError(f"--{name.replace('_', '-')}: {reason}")


def params(path: str) -> dict[str, Any]:
    """Read an object from a file or standard input. Raises CommandError."""
    try:
        raw = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except OSError as error:
        raise refusal("PARAMS.json", path, f"cannot be read: {error.strerror}") from error
    try:
        return strict_json.loads_object(raw)
    except InvalidRequest as error:
        raise CommandError(f"PARAMS.json: {error.message}") from error
