"""Measures the desk's home page beside many ended tasks, and checks that it scans no growing table."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import psycopg
import requests

from bench import clones, crew, limits, offers, plans
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Sample
from bench.service import BenchService
from bench.surroundings import Bench

SEEDED, QUEUED = 1_000, 1_000
MANY, QUICK_MANY = 1_000_000, 50_000
DAYS, MODELS = 30, 8
TIMES = 20
LONGEST = 1_800
OPERATOR, PASSWORD = "bench", "bench-password-of-an-operator"
NUMBER = f"right({{id}}, {clones.DIGITS})::bigint"
# Spreads the ends over a month, and those of the last day over several models and durations.
ENDS = f"""
UPDATE tasks_taskevent SET at = now() - interval '{DAYS} days' * (1 - {NUMBER.format(id="task_id")} / {{many}}.0)
WHERE status = 'succeeded'
"""
LAST_DAY = f"""
UPDATE tasks_task SET model_name = 'model-' || {NUMBER.format(id="id")} % {MODELS},
    created_at = finished_at - interval '1 second' * ({NUMBER.format(id="id")} % 90)
WHERE {NUMBER.format(id="id")} >= {{many}} - {{many}} / {DAYS} AND status = 'succeeded'
"""
LEFT = """
SELECT (SELECT max(id) FROM tasks_taskevent) - COALESCE((SELECT max(last_event_id) FROM tasks_figurecursor), 0)
"""


def spread(url: str, many: int) -> None:
    """Spreads the ended tasks over a month, as in a real service."""
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in (ENDS, LAST_DAY, "VACUUM ANALYZE"):
            connection.execute(statement.format(many=many).encode())


def folded(url: str) -> float:
    """Waits until the janitor has summed up all ended tasks; returns the seconds."""
    started = time.monotonic()
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(LEFT).fetchone() != (0,):
            time.sleep(0.2)
    return time.monotonic() - started


def signed_in(service: BenchService) -> requests.Session:
    """Returns a session of the operator. Raises Incorrect."""
    service.manage("createsuperuser", "--noinput", f"--username={OPERATOR}", "--email=bench@localhost.invalid",
                   DJANGO_SUPERUSER_PASSWORD=PASSWORD)  # fmt: skip
    session = requests.Session()
    address = f"{service.base_url}/admin/login/"
    token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', session.get(address, timeout=crew.PATIENCE).text)
    sent = {"username": OPERATOR, "password": PASSWORD, "csrfmiddlewaretoken": token[1] if token else ""}
    answer = session.post(address, data={**sent, "next": "/admin/"}, timeout=crew.PATIENCE)
    if answer.status_code != 200 or "now-figures" not in answer.text:
        raise Incorrect(f"signing in was answered {answer.status_code}")
    return session


def look(bench: Bench, service: BenchService, session: requests.Session, fold_s: float) -> Sample:
    """Measures the page. Raises Incorrect if a statement scans a big table or the page lacks the queued tasks."""
    log = bench.databases.log
    assert log is not None
    start = log.stat().st_size
    before, taken = service.spent(), []
    for _ in range(TIMES):
        started = time.perf_counter()
        answer = session.get(f"{service.base_url}/admin/", timeout=crew.PATIENCE)
        taken.append((time.perf_counter() - started) * 1000)
        if answer.status_code != 200 or f'<span class="number">{QUEUED + 1}</span>' not in answer.text:
            raise Incorrect(f"the page was answered {answer.status_code}, or lacks the queued tasks")
    cpu = service.spent().since(before).each(TIMES)
    with log.open() as file:
        file.seek(start)
        found = list(plans.read(file.read()))
    if scans := sorted({scan for plan in found for scan in plans.scans(plan)}):
        raise Incorrect(f"{scans[0].table} is scanned: {scans[0].statement[:600]}")
    figures = {"home_ms": median(taken), "longest_ms": max(taken), **cpu, "statements": len(found) / TIMES}
    return Sample(figures={**figures, "fold_s": fold_s})


@contextmanager
def home(bench: Bench) -> Iterator[Contest]:
    many = QUICK_MANY if bench.is_quick else MANY
    with (
        limits.within(LONGEST),
        bench.database(tasks=SEEDED) as url,
        crew.started(bench, url, offers.instant()) as service,
    ):
        clones.grow(url, SEEDED, many)
        spread(url, many)
        service.start_web()
        clones.copied(url, crew.submitted(service, offers.IMAGE), QUEUED)
        crew.start_worker(service, concurrency=1, lanes="janitor")
        fold_s = folded(url)
        crew.check(service)
        service.stop()
        plans.record(bench.databases, url)
        service.start_web()
        with signed_in(service) as session:
            yield {OURS: lambda: look(bench, service, session, fold_s)}


ROWS = [
    BenchRow(
        name="desk",
        what=f"home page of the desk beside {MANY:,} ended tasks of a month ({QUICK_MANY:,} with --quick) and "
        f"{QUEUED:,} queued ones",
        goals=(Goal(figure="home_ms", at_most=300, unit="ms"),),
        quick_seconds=30,
        contest=home,
    )
]
