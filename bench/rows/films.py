"""Measures open video jobs in one worker process: how late polls come, what they cost, and how soon results are seen.

One film is really bought; its copies stay open at the provider. A second worker adopts all of them, as after a restart.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from bench import clones, crew, limits, offers
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Sample
from bench.service import BenchService
from bench.surroundings import Bench

EVERY = 10.0
"""Seconds between two polls of a job."""
SETTLED = 11.0
"""Seconds until all jobs due at once were polled and PostgreSQL has counted the adoption's writes."""
FINISHED = 20
WAITED = 60.0
SEEN = """
SELECT c.handle->>'id', extract(epoch FROM e.at) FROM tasks_call c
JOIN tasks_taskevent e ON e.task_id = c.task_id AND e.status = 'succeeded'
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobProtocol:
    """A provider's protocol at `path`, with `count` open jobs in a full run and `quick_count` in a quick one."""

    adapter: str
    path: str
    count: int
    quick_count: int

    def jobs(self, bench: Bench) -> int:
        return self.quick_count if bench.is_quick else self.count


BATCH = JobProtocol(adapter="ark_content_tasks", path="batch", count=20_000, quick_count=2_000)
SINGLE = JobProtocol(adapter="openai_videos", path="single", count=5_000, quick_count=500)


def buy_one(service: BenchService) -> str:
    """Buys a film and stops the worker while it is being made; returns the task's id."""
    web, worker = service.start_web(), crew.start_worker(service, concurrency=32)
    task_id = crew.submitted(service, offers.FILM)
    bought = "SELECT count(*) FROM tasks_call WHERE state = 'accepted'"
    if not crew.until(lambda: bool(crew.fetch(service.database_url, bought)[0][0]), seconds=WAITED):
        raise Incorrect("the first film was not bought")
    worker.stop()
    web.stop()
    return task_id


def follow(bench: Bench, protocol: JobProtocol) -> Sample:
    jobs = protocol.jobs(bench)
    with bench.database() as url, crew.started(bench, url, offers.instant()) as service:
        provider = crew.BenchProvider(service)
        service.load_catalog(offers.films(protocol.adapter, f"{provider.url}/{protocol.path}", every=EVERY))
        clones.copied(url, buy_one(service), jobs - 1, clones.FOLLOWED)
        provider.set(every=EVERY)
        worker = crew.start_worker(service, concurrency=32)
        if not crew.until(lambda: provider.report()["jobs"] == jobs, seconds=WAITED):
            raise Incorrect(f"of {jobs} open jobs, only {provider.report()['jobs']} were polled")
        time.sleep(SETTLED)
        provider.set(judge=True)
        with crew.Watch(worker, url) as watched:
            figures = idle_polls(service, provider, seconds=(1.2 if bench.is_quick else 3.2) * EVERY)
            figures["visible_s"] = finish_some(service, provider)
        worker.stop()
        crew.check(service)
        return Sample(figures={**figures, "rss_mb": watched.rss_mb, "connections": watched.connections})


def idle_polls(service: BenchService, provider: crew.BenchProvider, *, seconds: float) -> dict[str, float]:
    """Measures polls that find nothing new: their lateness and their cost."""
    written, before, spent = crew.written(service.database_url), provider.report(), service.spent()
    time.sleep(seconds)
    found, used = provider.report(), service.spent().since(spent)
    polls = found["polls"] - before["polls"]
    asked = sum(found["requests"].values()) - sum(before["requests"].values())
    if not polls:
        raise Incorrect("nothing was polled")
    return {
        "late_p50_s": found["late_p50"],
        "late_p99_s": found["late_p99"],
        "late_max_s": found["late_max"],
        "polls_per_second": polls / seconds,
        "worker_cpu_percent": 100 * used.worker / seconds,
        "writes_per_poll": (crew.written(service.database_url) - written) / polls,
        # Our own request for the report adds one to each.
        "connections_per_request": (found["connections"] - before["connections"] - 1) / max(1, asked - 1),
    }


def finish_some(service: BenchService, provider: crew.BenchProvider) -> float:
    """Returns the longest delay in seconds, of some jobs, from the provider's answer with a result to the client's
    event."""
    jobs = [f"seeded-{n + 1}" for n in range(FINISHED)]
    provider.set(finish=jobs)
    ended = "SELECT count(*) FROM tasks_task WHERE status = 'succeeded' AND modality = 'video'"
    if not crew.until(lambda: crew.fetch(service.database_url, ended)[0][0] >= FINISHED, seconds=WAITED):
        raise Incorrect("finished films were not delivered")
    seen, told = dict(crew.fetch(service.database_url, SEEN)), provider.report()["told_at"]
    return max(float(seen[job]) - float(told[job]) for job in jobs)


@contextmanager
def open_films(bench: Bench, protocol: JobProtocol) -> Iterator[Contest]:
    with limits.within(300 if bench.is_quick else 900):
        yield {OURS: partial(follow, bench, protocol)}


GOALS = (
    Goal(figure="late_max_s", at_most=2.0, unit="s"),
    Goal(figure="rss_mb", at_most=400.0, unit="MB"),
    Goal(figure="visible_s", at_most=3.0, unit="s"),
    Goal(figure="writes_per_poll", at_most=0.02, unit="rows"),
    Goal(figure="connections_per_request", at_most=0.1, unit="new"),
)

ROWS = [
    BenchRow(
        name=f"films-{protocol.path}",
        what=f"{protocol.count:,} open films in one worker ({protocol.quick_count:,} with --quick), each polled every "
        f"{EVERY:g} s, {how}",
        goals=GOALS,
        quick_seconds=45,
        rounds=1,
        waits=True,
        contest=partial(open_films, protocol=protocol),
    )
    for protocol, how in ((BATCH, "in batches"), (SINGLE, "one by one"))
]
