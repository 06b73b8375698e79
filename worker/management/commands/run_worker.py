"""`run_worker`: arguments and signals; the work is in `worker/loop.py`."""

import os
import signal
from types import FrameType
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from common.commands import OneLineCommand
from common.database import schema
from common.database.database_retry import insist, release_connection
from common.database.schema import SchemaMismatch
from common.postgresql import doors
from common.process import garbage, scheduling
from tasks import leases
from worker.loop import CONNECTIONS, LANES, Loop

MOST_CALLS = 1000


class Command(OneLineCommand):
    help = "Execute queued tasks until SIGTERM; a second SIGTERM exits at once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--lanes", default=",".join(LANES), help="comma-separated (default: %(default)s)")
        parser.add_argument("--concurrency", default="32", help="calls that may wait at providers (default: 32)")
        parser.add_argument(
            "--drain", action="store_true", help="exit 0 when nothing is queued, running or due to be sent"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        lanes, concurrency = parse_lanes(options["lanes"]), parse_concurrency(options["concurrency"])
        try:
            insist(schema.check)
            worker_id = insist(leases.register, lanes)
        except SchemaMismatch as mismatch:
            raise CommandError(str(mismatch)) from mismatch
        except DatabaseError as error:
            raise CommandError(f"database: {str(error).splitlines()[0]}") from error
        release_connection()
        doors.build(CONNECTIONS)
        worker = Loop(worker_id, lanes, concurrency=concurrency, drain=options["drain"])

        def stop(number: int, frame: FrameType | None) -> None:
            if worker.is_asked_to_stop:
                os._exit(128 + number)
            worker.ask_to_stop()

        signal.signal(signal.SIGTERM, stop)
        signal.signal(signal.SIGINT, stop)
        garbage.settle()
        scheduling.finish_turns()
        worker.run()


def parse_lanes(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in str(text).split(",")))
    for name in names:
        if name not in LANES:
            raise CommandError(f"--lanes: unknown lane {name[:80]!r}; known are {', '.join(LANES)}")
    return names


def parse_concurrency(text: object) -> int:
    number = str(text)
    if not (number.isascii() and number.isdigit() and len(number) <= 4 and 1 <= int(number) <= MOST_CALLS):
        raise CommandError(f"--concurrency: {number[:80]!r} is not a whole number from 1 to {MOST_CALLS}")
    return int(number)
