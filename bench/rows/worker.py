"""The whole life of a task in one worker process: with an adapter that answers at once, and over real HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench import crew, limits, offers, processor, queue_peers
from bench.model import OURS, Contest, Goal, Row, Sample
from bench.service import Service
from bench.surroundings import Bench

CONCURRENCY = 100
QUEUED = 20_000
BOUGHT = 3_000
PICTURE_BYTES = 64 * 1024
BARE = Path(__file__).parent.parent / "anchors" / "bare_requests.py"


def worked(bench: Bench, service: Service, prefix: str) -> Sample:
    """One worker at work for a few seconds: tasks a second between its first claim and its last end, and CPU a task."""
    url = service.database_url
    worker = crew.start_worker(service, concurrency=CONCURRENCY)
    before = service.spent()
    crew.until(crew.all_ended(url), seconds=2.0 * bench.seconds)
    spent = service.spent().since(before)
    ended = crew.Ended(url, prefix)
    figures = {"rate": ended.rate, "tasks": ended.count, **spent.each(ended.count)}
    worker.stop()
    crew.check(service)
    return Sample(figures=figures)


def instant(bench: Bench) -> Sample:
    with bench.database() as url, crew.started(bench, url, offers.instant()) as service:
        prefix = crew.preload(service, {**offers.IMAGE, "callback_url": offers.CALLBACK}, QUEUED)
        return worked(bench, service, prefix)


@contextmanager
def whole_life(bench: Bench) -> Iterator[Contest]:
    """The callbacks are owed and nobody sends them: the lane is off."""
    with limits.within(420 if bench.is_quick else 900):
        yield {
            **{name: partial(queue_peers.run, bench, name, pickups=20) for name in queue_peers.PEERS},
            OURS: partial(instant, bench),
        }


def real(bench: Bench) -> Sample:
    with bench.database() as url, crew.started(bench, url, offers.instant()) as service:
        provider = crew.Provider(service)
        provider.set(picture_bytes=PICTURE_BYTES)
        service.load_catalog(offers.images("openai_images", f"{provider.url}/images"))
        return worked(bench, service, crew.preload(service, offers.IMAGE, BOUGHT))


def bare(bench: Bench) -> Sample:
    """A script that buys the same pictures with `requests`, and writes each to a file."""
    with bench.service("sqlite:///:memory:") as nothing:
        provider = crew.Provider(nothing)
        provider.set(picture_bytes=PICTURE_BYTES)
        command = [sys.executable, str(BARE), f"{provider.url}/images/images/generations", str(nothing.folder)]
        answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    calls, seconds, cpu = map(float, answer.stdout.split())
    return Sample(figures={"rate": calls / seconds, "worker_cpu_ms": cpu * 1000 / calls})


@contextmanager
def real_http(bench: Bench) -> Iterator[Contest]:
    processor.seconds(None)
    with limits.within(180):
        yield {"requests": partial(bare, bench), OURS: partial(real, bench)}


ROWS = [
    Row(
        name="worker-life",
        what="a task's whole life in one worker process, with an adapter that answers at once",
        goals=(
            Goal(figure="rate", against="pgqueuer", at_least=2.0),
            Goal(figure="rate", against="procrastinate", at_least=10.0),
            Goal(figure="rate", against="celery", at_least=10.0),
        ),
        quick_seconds=75,
        contest=whole_life,
    ),
    Row(
        name="worker-http",
        what="the same over real HTTP and real files: the worker's CPU for each task",
        goals=(Goal(figure="worker_cpu_ms", against="requests", at_most=3.0),),
        quick_seconds=40,
        contest=real_http,
    ),
]
