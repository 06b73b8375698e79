"""Base class and argument checks of the operators' commands: an error names its argument, the answer is lines or JSON.

Arguments are checked here instead of by argparse, so that `call_command` with keywords is checked as well.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from common import money
from common.commands import OneLineCommand

LARGEST_INTEGER = 2**31 - 1


class DeskCommand(OneLineCommand):
    """Base of commands that answer with a mapping; an error is one line on stderr and exit status 1."""

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")

    def answer(self, **options: Any) -> Mapping[str, object]:
        """Run the command and return its result. Raises CommandError."""
        raise NotImplementedError

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).splitlines()[0]}") from error

    def handle(self, *args: Any, **options: Any) -> None:
        answer = self.answer(**options)
        if options["json"]:
            self.stdout.write(money.dumps(answer))
        else:
            self.stdout.writelines(f"{name}: {_shown(value)}\n" for name, value in answer.items())


def _shown(value: object) -> str:
    if value is None:
        return "-"
    return value if isinstance(value, str) else money.dumps(value)


def usd(argument: str, value: object) -> int:
    """Parse an amount in USD as micro-USD."""
    try:
        return money.micros(str(value))
    except (ValueError, ArithmeticError) as error:
        raise refusal(argument, value, "is not an amount in USD of at most a billion") from error


def whole(argument: str, value: object, *, at_least: int = 0, at_most: int = LARGEST_INTEGER) -> int:
    """Parse a decimal integer within bounds."""
    number = int(str(value)) if re.fullmatch(r"-?[0-9]{1,20}", str(value)) else None
    if number is None or not at_least <= number <= at_most:
        raise refusal(argument, value, f"is not a whole number from {at_least} to {at_most}")
    return number


def text(argument: str, value: object, *, at_most: int) -> str:
    """Check that a text is non-empty, has no control characters and fits both databases."""
    string = str(value)
    if not string.strip() or len(string) > at_most or any(unicodedata.category(c) in ("Cc", "Cs") for c in string):
        raise refusal(argument, value, f"is not a text of 1 to {at_most} characters without control characters")
    return string


def choice(argument: str, value: object, choices: Iterable[str]) -> str:
    if value not in (known := list(choices)):
        raise refusal(argument, value, f"is none of {', '.join(known)}")
    return str(value)


def moment(argument: str, value: object) -> datetime:
    """Parse an ISO 8601 date or time, as UTC if it names no zone."""
    try:
        at = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise refusal(argument, value, "is not an ISO 8601 time such as 2030-01-31T12:00:00Z") from error


def refusal(argument: str, value: object, reason: str) -> CommandError:
    """Build a one-line error that names the argument and shows at most 80 characters of its value."""
    return CommandError(f"{argument}: {repr(value)[:80]} {reason}")
