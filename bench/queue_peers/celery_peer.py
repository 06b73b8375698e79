"""Celery with its own Redis, without persistence; eight threads, which were faster than processes."""

import atexit
import functools
import shutil
import socket
import subprocess
import time

import celery
import redis
from meter import PATIENCE, Meter, main


def app_at(url: str) -> celery.Celery:
    app = celery.Celery("peer", broker=url)
    app.conf.update(task_ignore_result=True, worker_send_task_events=False, worker_hijack_root_logger=False)
    return app


def prepare(url: str) -> str:
    """Starts a Redis server; the database URL is not used."""
    program = shutil.which("redis-server")
    if program is None:
        raise SystemExit("there is no redis-server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--port", str(port), "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    atexit.register(server.kill)
    ends_at = time.monotonic() + PATIENCE
    while True:
        try:
            redis.Redis(port=port).ping()
            return f"redis://127.0.0.1:{port}/0"
        except redis.ConnectionError:
            if time.monotonic() > ends_at:
                raise
            time.sleep(0.05)


@functools.cache
def producer(url: str) -> celery.Celery:
    return app_at(url)


def enqueue(url: str, moments: list[float]) -> None:
    for moment in moments:
        producer(url).send_task("noop", [moment])


def work(url: str, meter: Meter) -> None:
    app = app_at(url)
    app.task(name="noop")(meter.entered)
    app.worker_main(["worker", "--pool", "threads", "-c", "8", "--loglevel", "ERROR"])


if __name__ == "__main__":
    main(prepare=prepare, enqueue=enqueue, work=work)
