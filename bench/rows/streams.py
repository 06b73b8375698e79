"""Measures event streams in one web process: memory for each open stream, and how soon many are notified."""

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench import claimer, crew, limits, offers, processor
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Missing, Sample
from bench.service import BenchService
from bench.surroundings import ACCOUNTS, Bench
from bench.talks import Talk, talking
from tools.stack import MANAGE, ROOT

OPEN, QUICK_OPEN = 5_000, 1_000
PER_KEY = 5
TOLD, TOLD_KEYS = 1_000, 200
QUEUED = 1 + 20 * TOLD_KEYS
SPARE_FILES = 1_024
SETTLING_SECONDS = 2.0


def let_files(count: int) -> None:
    """Sets the open-file limit of this process and its children. Raises Missing."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < count:
        raise Missing(f"{count} open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


@contextmanager
def opened(service: BenchService, count: int, keys: int) -> Iterator[Talk]:
    """Opens `count` streams of `keys` keys."""
    command = [MANAGE[0], "-m", "bench.stream_client", service.base_url, str(count), str(keys)]
    log = service.folder / "streams.log"
    with talking(command, folder=ROOT, environment=service.environment, log=log) as client:
        if client.heard() != "open":
            raise Incorrect("the streams were not opened")
        yield client


def occupied(bench: Bench) -> Sample:
    """Measures the web process's memory with all streams open, beyond that with the first few."""
    count = QUICK_OPEN if bench.is_quick else OPEN
    with bench.database() as url, crew.started(bench, url, offers.instant()) as service:
        web = service.start_web()
        with opened(service, PER_KEY, 1):
            time.sleep(SETTLING_SECONDS)
        before = processor.resident_mb(web.process.pid)
        started = time.monotonic()
        with opened(service, count, count // PER_KEY):
            seconds = time.monotonic() - started
            time.sleep(SETTLING_SECONDS)
            each = (processor.resident_mb(web.process.pid) - before) * 1e6 / 1024 / count
    return Sample(figures={"kib_each": each, "opened_per_second": count / seconds})


@contextmanager
def open_streams(bench: Bench) -> Iterator[Contest]:
    let_files(OPEN + SPARE_FILES)
    with limits.within(240):
        yield {OURS: partial(occupied, bench)}


def tell_all(client: Talk, claims: Talk) -> Sample:
    """Makes one commit with an event for each key; returns milliseconds until the last stream has its line."""
    time.sleep(0.5)
    client.ask("watch")
    _, committed_at = map(float, claims.ask(str(TOLD_KEYS)).split())
    heard = json.loads(client.heard())
    if heard["told"] != TOLD:
        raise Incorrect(f"{heard['told']} of {TOLD} streams were notified")
    return Sample(
        figures={"p50_ms": 1000 * (heard["p50"] - committed_at), "last_ms": 1000 * (heard["last"] - committed_at)}
    )


@contextmanager
def told_streams(bench: Bench) -> Iterator[Contest]:
    let_files(TOLD + SPARE_FILES)
    assert ACCOUNTS >= TOLD_KEYS
    with (
        limits.within(240),
        bench.database() as url,
        crew.started(bench, url, offers.instant()) as service,
    ):
        crew.preload(service, offers.IMAGE, QUEUED, owners=TOLD_KEYS)
        service.start_web()
        program = [str(bench.python), "-P", str(Path(claimer.__file__))]
        log = service.folder / "claims.log"
        with (
            opened(service, TOLD, TOLD_KEYS) as client,
            talking(program, folder=bench.tree, environment=service.environment, log=log) as claims,
        ):
            claims.heard()
            claims.ask("1")
            time.sleep(SETTLING_SECONDS)
            yield {OURS: partial(tell_all, client, claims)}
        crew.check(service)


ROWS = [
    BenchRow(
        name="streams-told",
        what=f"{TOLD:,} streams of {TOLD_KEYS} keys in one web process, an event for each key in one commit",
        goals=(Goal(figure="last_ms", at_most=100.0, unit="ms"),),
        quick_seconds=13,
        contest=told_streams,
    ),
    BenchRow(
        name="streams-open",
        what=f"{OPEN:,} open streams in one web process ({QUICK_OPEN:,} with --quick)",
        goals=(Goal(figure="kib_each", at_most=30.0, unit="KiB"),),
        quick_seconds=10,
        rounds=1,
        contest=open_streams,
    ),
]
