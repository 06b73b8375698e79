"""`manage.py run_sandbox`: runs the built-in provider in the foreground until SIGTERM or SIGINT."""

import asyncio
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from common.commands import OneLineCommand
from sandbox.provider import Provider
from sandbox.server import serve


class Command(OneLineCommand):
    help = "Runs the built-in provider: real protocols, real media. Words in prompts steer it (sandbox/steering.py)."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument("--port", type=int, default=8900, help="0 picks a free one (default: %(default)s)")
        parser.add_argument("--video-seconds", type=float, default=1.0, help="how long a video job takes (default: 1)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not 0 <= options["port"] <= 65_535:
            raise CommandError(f"--port: {options['port']} is not a port from 0 to 65535")
        provider = Provider(video_seconds=options["video_seconds"])
        try:
            asyncio.run(serve(provider, options["host"], options["port"], announce=self.announce))
        except OSError as error:
            raise CommandError(f"cannot listen on {options['host']}:{options['port']}: {error.strerror}") from error

    def announce(self, origin: str) -> None:
        """Prints one line to stdout at once."""
        self.stdout.write(f"sandbox listening on {origin}")
        self.stdout.flush()
