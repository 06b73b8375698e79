"""pgqueuer on asyncpg, with its default batch size, started from Python."""

import asyncio
import functools
import struct
from collections.abc import Coroutine
from typing import Any

import asyncpg
from meter import Meter, main
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver
from pgqueuer.models import Job
from pgqueuer.queries import Queries


@functools.cache
def loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def now(step: Coroutine[Any, Any, Any]) -> Any:
    return loop().run_until_complete(step)


@functools.cache
def queries(url: str) -> Queries:
    return Queries(AsyncpgDriver(now(asyncpg.connect(url))))


def prepare(url: str) -> str:
    now(queries(url).install())
    return url


def enqueue(url: str, moments: list[float]) -> None:
    packed: list[bytes | None] = [struct.pack("d", moment) for moment in moments]
    now(queries(url).enqueue(["noop"] * len(packed), packed, [0] * len(packed)))


def work(url: str, meter: Meter) -> None:
    async def run() -> None:
        queuer = PgQueuer(AsyncpgDriver(await asyncpg.connect(url)))

        @queuer.entrypoint("noop")
        async def noop(job: Job) -> None:
            meter.entered(struct.unpack("d", job.payload or b"")[0])

        await queuer.run()

    asyncio.run(run())


if __name__ == "__main__":
    main(prepare=prepare, enqueue=enqueue, work=work)
