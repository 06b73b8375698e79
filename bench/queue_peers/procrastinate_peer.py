"""procrastinate with its defaults, except for a concurrency of 1, the fastest of those tried."""

import asyncio
import functools

import procrastinate
from meter import Meter, main


def app_at(url: str) -> procrastinate.App:
    return procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=1, max_size=4))


def prepare(url: str) -> str:
    with procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=url)).open() as app:
        app.schema_manager.apply_schema()
    return url


@functools.cache
def producer(url: str) -> procrastinate.tasks.Task:
    """Opens the connection once, so that single jobs do not pay for it."""
    app = procrastinate.App(connector=procrastinate.SyncPsycopgConnector(conninfo=url))
    app.open()
    return app.task(name="noop")(lambda sent: None)


def enqueue(url: str, moments: list[float]) -> None:
    if len(moments) == 1:
        producer(url).defer(sent=moments[0])
    else:
        producer(url).batch_defer(*({"sent": moment} for moment in moments))


def work(url: str, meter: Meter) -> None:
    app = app_at(url)

    @app.task(name="noop")
    async def noop(sent: float) -> None:
        meter.entered(sent)

    async def run() -> None:
        async with app.open_async():
            await app.run_worker_async(install_signal_handlers=False)

    asyncio.run(run())


if __name__ == "__main__":
    main(prepare=prepare, enqueue=enqueue, work=work)
