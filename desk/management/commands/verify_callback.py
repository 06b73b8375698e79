"""Check the signature of a received callback and report problems."""

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from callbacks import signing
from desk.commands.command import DeskCommand, refusal, text, whole

STDIN = "-"
LATEST = 2**40


class Command(DeskCommand):
    help = "Check the signature of a received callback. Exit status 1 and the reasons if it must not be trusted."
    is_valid = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("body", metavar="BODYFILE", help="the raw body as it was received; - for standard input")
        parser.add_argument("--delivery", required=True, help=f"header {signing.named('delivery')}")
        parser.add_argument("--timestamp", required=True, help=f"header {signing.named('timestamp')}")
        parser.add_argument("--signature", required=True, help=f"header {signing.named('signature')}")
        secret = parser.add_mutually_exclusive_group(required=True)
        secret.add_argument("--key-env", metavar="NAME", help="environment variable that holds the Task API key")
        secret.add_argument("--secret-file", metavar="FILE", help="file that holds the Task API key")
        parser.add_argument("--window", metavar="SECONDS", default=str(signing.REPLAY_WINDOW_SECONDS))
        super().add_arguments(parser)

    def answer(self, **options: Any) -> dict[str, object]:
        window = whole("--window", options["window"])
        timestamp = whole("--timestamp", options["timestamp"], at_most=LATEST)
        delivery_id = text("--delivery", options["delivery"], at_most=100)
        secret, body = task_key(options), received(options["body"])
        age = int(time.time()) - timestamp

        def is_signed(signed: bytes) -> bool:
            made = signing.mac(secret, delivery_id=delivery_id, timestamp=str(options["timestamp"]), body=signed)
            return signing.is_genuine(options["signature"], made)

        problems = [] if is_signed(body) else [forgery(body, is_signed)]
        if abs(age) > window:
            problems.append(f"the timestamp is {abs(age)} seconds {'old' if age > 0 else 'ahead'}")
        problems += contradictions(body, delivery_id=delivery_id, timestamp=timestamp)
        self.is_valid = not problems
        return {"valid": self.is_valid, "problems": problems, "age_seconds": age}

    def handle(self, *args: Any, **options: Any) -> None:
        super().handle(*args, **options)
        if not self.is_valid:
            sys.exit(1)


def task_key(options: dict[str, Any]) -> str:
    """Read the secret from a place that no process list or shell history shows. Raises CommandError."""
    if name := options["key_env"]:
        argument, secret = "--key-env", os.environ.get(name, "")
    else:
        argument, name = "--secret-file", options["secret_file"]
        secret = read(argument, name).decode(errors="replace").strip()
    if not secret:
        raise refusal(argument, name, "is empty")
    return secret


def received(path: str) -> bytes:
    return sys.stdin.buffer.read() if path == STDIN else read("BODYFILE", path)


def read(argument: str, path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise refusal(argument, path, f"cannot be read: {error.strerror}") from error


def forgery(body: bytes, is_signed: Callable[[bytes], bool]) -> str:
    """Explain why the signature does not match, as far as possible."""
    if is_signed(body.rstrip(b"\r\n")):
        return "the signature is of this body without its last line end: the body was changed after it was received"
    return "the signature is not of this body: another key, another delivery or timestamp, or a changed body"


def contradictions(body: bytes, *, delivery_id: str, timestamp: int) -> list[str]:
    """List where the payload contradicts the headers."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        return ["the body is not JSON"]
    said = payload if isinstance(payload, dict) else {}
    expected = {"id": delivery_id, "created_at": timestamp}
    return [f"the body's {name} is not the header's" for name, value in expected.items() if said.get(name) != value]
