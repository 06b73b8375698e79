"""Measures whole tasks in one worker process: with an adapter that answers at once, and over real HTTP."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import crew, limits, offers, processor, queue_peers
from bench.crew import BenchProvider, Preloaded
from bench.model import OURS, BenchRow, Contest, Goal, Sample
from bench.surroundings import Bench

CONCURRENCY = 400
QUEUED = 12_000
BOUGHT = 3_000
PICTURE_BYTES = 64 * 1024
MEMORY = Path("/dev/shm")
BARE = Path(__file__).parent.parent / "anchors" / "bare_requests.py"


def worked(bench: Bench, preloaded: Preloaded, **environment: str) -> Sample:
    """Runs one worker for a few seconds: tasks per second between its first claim and its last end, and CPU per
    task."""
    with preloaded.copy(**environment) as service:
        worker = crew.start_worker(service, concurrency=CONCURRENCY)
        before = service.spent()
        crew.until(crew.all_ended(service.database_url), seconds=1.0 + bench.seconds)
        spent = service.spent().since(before)
        ended = crew.Ended(service.database_url, preloaded.prefix)
        figures = {"rate": ended.rate, "tasks": ended.count, **spent.each(ended.count)}
        worker.stop()
        crew.check(service)
    return Sample(figures=figures)


@contextmanager
def whole_life(bench: Bench) -> Iterator[Contest]:
    """Yields the contenders. Callbacks are owed but not sent: that lane is off. Files lie in memory where the system
    has such a folder, so that only PostgreSQL's flushes are measured; the next row measures real files."""
    body = {**offers.IMAGE, "callback_url": offers.CALLBACK}
    files = TemporaryDirectory(prefix="darkroom-bench-", dir=MEMORY if MEMORY.is_dir() else None)
    with files as folder, limits.within(600), crew.preloaded(bench, offers.instant(), body, QUEUED) as preloaded:
        yield {
            **{name: queue_peers.contender(bench, name) for name in queue_peers.PEERS},
            OURS: partial(worked, bench, preloaded, ASSET_STORAGE=f"file://{folder}"),
        }


def bare(provider: BenchProvider, folder: Path) -> Sample:
    """Runs a script that buys the same pictures with `requests`, and writes each to a file."""
    command = [sys.executable, str(BARE), f"{provider.url}/images/images/generations", str(folder)]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    calls, seconds, cpu = map(float, answer.stdout.split())
    return Sample(figures={"rate": calls / seconds, "worker_cpu_ms": cpu * 1000 / calls})


@contextmanager
def real_http(bench: Bench) -> Iterator[Contest]:
    processor.seconds(None)
    with limits.within(300), bench.service("sqlite:///:memory:") as alone:
        provider = BenchProvider(alone)
        provider.set(picture_bytes=PICTURE_BYTES)
        offer = offers.images("openai_images", f"{provider.url}/images")
        with crew.preloaded(bench, offer, offers.IMAGE, BOUGHT) as preloaded:
            yield {"requests": partial(bare, provider, alone.folder), OURS: partial(worked, bench, preloaded)}


ROWS = [
    BenchRow(
        name="worker-life",
        what="a task's whole life in one worker process, with an adapter that answers at once",
        goals=(
            Goal(figure="rate", against="pgqueuer", at_least=2.0),
            Goal(figure="rate", against="procrastinate", at_least=10.0),
            Goal(figure="rate", against="celery", at_least=10.0),
        ),
        quick_seconds=50,
        contest=whole_life,
        peers={name: peer.requirements for name, peer in queue_peers.PEERS.items()},
    ),
    BenchRow(
        name="worker-http",
        what="a task's whole life over real HTTP with real files: the worker's CPU for each task",
        goals=(Goal(figure="worker_cpu_ms", against="requests", at_most=3.0),),
        quick_seconds=25,
        contest=real_http,
    ),
]
