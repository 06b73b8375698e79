"""Measures how soon an idle worker picks up a task, and what idleness costs."""

import http.client
import json
import random
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

from bench import correctness, crew, limits, offers, processor, seed, statements
from bench.lateness import percentile
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Sample
from bench.service import WEB_PROCESSES, BenchService
from bench.surroundings import Bench

PICKED = 40
SETTLING_SECONDS = 2.0


def answered_at(client: http.client.HTTPConnection, prompt: str) -> float:
    """Submits a task; returns the time of the 202. Raises Incorrect."""
    body = json.dumps({**offers.IMAGE, "params": {"prompt": prompt}})
    headers = {"Authorization": seed.authorizations(1)[0], "Content-Type": "application/json"}
    client.request("POST", "/v1/tasks", body, headers)
    answer = client.getresponse()
    at = time.monotonic()
    said = answer.read()
    if answer.status != 202:
        raise Incorrect(f"a submission was answered {answer.status}: {said[:200]!r}")
    return at


def entered(entries: Path, prompts: set[str]) -> dict[str, float]:
    """Returns when the adapter was entered for each of these prompts, if it was."""
    lines = [line.split() for line in entries.read_text().splitlines()] if entries.exists() else []
    return {prompt: float(at) for prompt, at in lines if prompt in prompts}


def pick_up(service: BenchService, entries: Path, name: str) -> Sample:
    """Submits single tasks to an idle worker with pauses; returns milliseconds from the 202 to the adapter's entry."""
    client = http.client.HTTPConnection(urlsplit(service.base_url).netloc, timeout=crew.PATIENCE)
    answered: dict[str, float] = {}
    for number in range(PICKED):
        time.sleep(random.uniform(0.05, 0.12))
        prompt = f"{name}-{number}"
        answered[prompt] = answered_at(client, prompt)
    client.close()
    if not crew.until(lambda: len(entered(entries, set(answered))) == PICKED, seconds=crew.PATIENCE):
        raise Incorrect(f"{PICKED} tasks were submitted, {len(entered(entries, set(answered)))} picked up")
    # The commit precedes the 202, so a worker may be faster than the answer.
    waited = [max(0.0, at - answered[prompt]) * 1000 for prompt, at in entered(entries, set(answered)).items()]
    return Sample(figures={"p50_ms": median(waited), "p99_ms": percentile(waited, 0.99)})


@contextmanager
def idle_service(bench: Bench, place: AbstractContextManager[str]) -> Iterator[tuple[BenchService, Path]]:
    """Yields web processes with a worker of all lanes, and the file to which the adapter writes its entries."""
    entries = bench.folder / f"entries-{random.randrange(10**9)}"
    environment = {"INSTANT_ENTRIES": str(entries), "WEB_CONCURRENCY": WEB_PROCESSES}
    with place as url, crew.started(bench, url, offers.instant(), **environment) as service:
        service.start_web(PGAPPNAME="web")
        crew.start_worker(service, concurrency=32, lanes="tasks,callbacks,janitor")
        crew.submitted(service, offers.IMAGE, prompt="warm")
        yield service, entries


@contextmanager
def picking(bench: Bench, *, is_sqlite: bool) -> Iterator[Contest]:
    with (
        limits.within(180),
        idle_service(bench, bench.sqlite() if is_sqlite else bench.database()) as (service, entries),
    ):
        time.sleep(SETTLING_SECONDS)
        yield {OURS: lambda: pick_up(service, entries, f"pick-{random.randrange(10**9)}")}
        crew.until(lambda: not correctness.fetch(service.database_url, crew.LIVE)[0][0], seconds=crew.PATIENCE)
        crew.check(service)


def rest(bench: Bench, service: BenchService) -> Sample:
    """Measures what the processes do without work."""
    seconds = 3.0 * bench.seconds
    with statements.counted(bench.databases) as found:
        before = service.spent()
        time.sleep(seconds)
        spent = service.spent().since(before)
    webs = int(WEB_PROCESSES)
    return Sample(
        figures={
            "worker_statements": found["worker"] / seconds,
            "web_statements": found["web"] / seconds / webs,
            "worker_cpu_percent": 100 * spent.worker / seconds,
            "web_cpu_percent": 100 * spent.web / seconds / webs,
        }
    )


@contextmanager
def idling(bench: Bench) -> Iterator[Contest]:
    processor.seconds(None)
    with limits.within(180), idle_service(bench, bench.database()) as (service, _):
        time.sleep(2 * SETTLING_SECONDS)
        yield {OURS: lambda: rest(bench, service)}


ROWS = [
    BenchRow(
        name="idle",
        what="statements and CPU of processes that have nothing to do, PostgreSQL",
        goals=(
            Goal(figure="worker_statements", at_most=2.0, unit="/s"),
            Goal(figure="web_statements", at_most=2.0, unit="/s"),
            Goal(figure="worker_cpu_percent", at_most=0.5, unit="%"),
            Goal(figure="web_cpu_percent", at_most=0.5, unit="%"),
        ),
        quick_seconds=15,
        rounds=1,
        contest=idling,
    ),
    BenchRow(
        name="pickup-postgresql",
        what="time from the 202 to the adapter's entry in an idle worker, two web processes",
        goals=(
            Goal(figure="p50_ms", at_most=5.0, unit="ms"),
            Goal(figure="p99_ms", at_most=20.0, unit="ms"),
        ),
        quick_seconds=20,
        contest=partial(picking, is_sqlite=False),
    ),
    BenchRow(
        name="pickup-sqlite",
        what="time from the 202 to the adapter's entry, on SQLite",
        goals=(Goal(figure="p50_ms", at_most=10.0, unit="ms"),),
        quick_seconds=25,
        contest=partial(picking, is_sqlite=True),
    ),
]
