"""Row of the embedded database: submissions on SQLite beside two workers on the same file."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import correctness
from bench.anchors import databases, script
from bench.model import OURS, BenchRow, Contest, Goal, Sample
from bench.rows import submissions
from bench.service import BenchService
from bench.surroundings import ACCOUNTS, Bench
from tools.children import PATIENCE

BARE = "bare sqlite3 script"
# Delays of the sandbox's pictures, which make the workers wait, poll and end as they usually do.
SLOW = "[slow=3]"


def alone(bench: Bench, service: BenchService, file: Path) -> Sample:
    """Measures the bare script while the service is suspended."""
    service.pause()
    try:
        return script.bare_sqlite(file, accounts=ACCOUNTS, seconds=bench.script_seconds)
    finally:
        service.unpause()


def ours(bench: Bench, service: BenchService) -> Sample:
    """Measures submissions at c=1, then at c=64; figures of c=1 say so in their names."""
    one = submissions.submit(bench, service, accounts=ACCOUNTS, connections=1, prompt=SLOW)
    crowd = submissions.submit(bench, service, accounts=ACCOUNTS, connections=submissions.CONNECTIONS, prompt=SLOW)
    return Sample(figures={**crowd.figures, "rate_c1": one.figures["rate"], "p50_ms_c1": one.figures["p50_ms"]})


@contextmanager
def on_sqlite(bench: Bench) -> Iterator[Contest]:
    with bench.sqlite() as url, bench.service(url) as service:
        anchor = service.folder / "anchor.sqlite3"
        databases.on_sqlite(anchor)
        sandbox = service.start_sandbox()
        service.manage("load_catalog", "catalog.example.yaml", SANDBOX_URL=sandbox.url)
        submissions.start_web(bench, service, prompt=SLOW)
        workers = (service.start_worker(), service.start_worker())
        for worker in workers:
            worker.wait_for_line(r"worker \w+ starts", timeout=PATIENCE)
        correctness.settle(service)
        yield {BARE: lambda: alone(bench, service, anchor), OURS: lambda: ours(bench, service)}
        for worker in workers:
            worker.kill()  # they would finish tasks that nobody waits for


ROWS = [
    BenchRow(
        name="sqlite",
        what="submissions on SQLite, 1,000 accounts, c=64, two web processes, with two workers running beside",
        goals=(
            Goal(figure="rate", against=BARE, at_least=0.5),
            Goal(figure="rate", against=OURS, against_figure="rate_c1", at_least=1),
            Goal(figure="p99_ms", against=OURS, against_figure="p50_ms", at_most=20),
        ),
        quick_seconds=40,
        contest=on_sqlite,
    )
]
