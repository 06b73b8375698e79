"""Measures concurrent paid calls in one worker process: the provider is slow, and the worker needs little."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench import crew, limits, offers
from bench.model import OURS, BenchRow, Contest, Goal, Sample
from bench.surroundings import Bench

CALLS = 1_000
DELAY = 3.0
PICTURE_BYTES = 256 * 1024
LONGEST = 90.0


def wait(bench: Bench) -> Sample:
    with bench.database() as url, crew.started(bench, url, offers.instant()) as service:
        provider = crew.BenchProvider(service)
        provider.set(delay=DELAY, picture_bytes=PICTURE_BYTES)
        service.load_catalog(offers.images("openai_images", f"{provider.url}/images"))
        prefix = crew.preload(service, offers.IMAGE, CALLS)
        worker = crew.start_worker(service, concurrency=CALLS)
        before = service.spent()
        with crew.Watch(worker, url) as watched:
            crew.until(crew.all_ended(url), seconds=LONGEST)
        spent, ended = service.spent().since(before), crew.Ended(url, prefix)
        most_open = provider.report()["most_open"]
        worker.stop()
        crew.check(service)
    return Sample(
        figures={
            "wall_share": ended.seconds / DELAY * CALLS / ended.count,
            "rss_mb": watched.rss_mb,
            "connections": watched.connections,
            "waiting_at_once": most_open,
            **spent.each(ended.count),
        }
    )


@contextmanager
def waiting(bench: Bench) -> Iterator[Contest]:
    with limits.within(300):
        yield {OURS: partial(wait, bench)}


ROWS = [
    BenchRow(
        name="waiting-images",
        what=f"{CALLS:,} image calls of {DELAY:g} s side by side in one worker, pictures of 256 KB",
        goals=(
            Goal(figure="wall_share", at_most=1.5, unit="× the delay"),
            Goal(figure="rss_mb", at_most=200.0, unit="MB"),
            Goal(figure="connections", at_most=4, unit="to the database"),
        ),
        quick_seconds=15,
        rounds=1,
        contest=waiting,
    )
]
