"""Row of the plans: runs a working service on big tables, and checks that no statement scans one."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import requests

from bench import clones, plans, seed
from bench.anchors.script import BODY
from bench.model import OURS, BenchRow, Contest, Goal, Incorrect, Sample
from bench.service import BenchService
from bench.surroundings import Bench

KEYS = 4
STRANGERS = 19_000  # too many for any plan to read all accounts
IMAGE = f'{{"model": "aurora-image", "modality": "image", "params": {BODY}, "callback_url": "%s/nobody"}}'
VIDEO = (
    '{"model": "comet-video", "modality": "video", "params": '
    '{"prompt": "waves", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}}'
)
PATIENCE = 60
READS = (
    "/v1/tasks?limit=20",
    "/v1/tasks?status=succeeded&limit=20",
    "/v1/tasks?status=queued",
    "/v1/tasks/usage",
    "/v1/tasks/models",
)


class Visit:
    """A customer's requests, on connections of their own."""

    def __init__(self, service: BenchService, number: int) -> None:
        self.url = service.base_url
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {seed.secret(number)}"

    def post(self, body: str, **headers: str) -> str:
        """Submits a task; returns its id. Raises Incorrect."""
        headers = {"Content-Type": "application/json", **headers}
        answer = self.session.post(f"{self.url}/v1/tasks", data=body, headers=headers, timeout=PATIENCE)
        if answer.status_code != 202:
            raise Incorrect(f"POST /v1/tasks: {answer.status_code} {answer.text[:200]}")
        return str(answer.json()["id"])

    def get(self, path: str) -> requests.Response:
        return self.session.get(f"{self.url}{path}", timeout=PATIENCE)

    def follow(self) -> None:
        """Reads a second of the event stream, from the beginning."""
        with suppress(requests.RequestException):
            headers = {"Last-Event-ID": "1"}
            stream = self.session.get(f"{self.url}/v1/tasks/events", headers=headers, stream=True, timeout=1)
            for _ in stream.iter_content(1024):
                pass

    def wait(self, task_id: str) -> None:
        """Waits until the task has ended. Raises Incorrect."""
        deadline = time.monotonic() + PATIENCE
        while self.get(f"/v1/tasks/{task_id}?wait=5").json()["status"] in ("queued", "running"):
            if time.monotonic() > deadline:
                raise Incorrect(f"{task_id} has not ended after {PATIENCE} s")


def work(service: BenchService, provider: str) -> None:
    """Does some of everything: submissions with and without key and callback, reads, streams, whole tasks."""
    visits = [Visit(service, number) for number in range(KEYS)]
    made = []
    for visit in visits:
        for number in range(3):
            image = IMAGE % provider
            made.append((visit, visit.post(image, **{"Idempotency-Key": f"{time.time_ns()}-{number}"})))
        made.append((visit, visit.post(VIDEO)))
        visit.get(f"/v1/tasks/{made[-1][1]}")
        for path in READS:
            visit.get(path)
        visit.follow()
    for visit, task_id in made:
        visit.wait(task_id)


def look(bench: Bench, service: BenchService, provider: str) -> Sample:
    """Raises Incorrect with the first statement that scans a big table."""
    log = bench.databases.log
    assert log is not None
    start = log.stat().st_size
    work(service, provider)
    with log.open() as file:
        file.seek(start)
        found = list(plans.read(file.read()))
    scans = sorted({scan for plan in found for scan in plans.scans(plan)})
    for scan in scans:
        print(f"  scans {scan.table}: {scan.statement[:600]}")
    if scans:
        raise Incorrect(f"{len(scans)} statements scan {', '.join(sorted({scan.table for scan in scans}))}")
    return Sample(figures={"statements": len(found), "scans": len(scans)})


@contextmanager
def explained(bench: Bench) -> Iterator[Contest]:
    with bench.database() as url, bench.service(url) as service:
        clones.add_strangers(url, STRANGERS)
        plans.record(bench.databases, url)
        sandbox = service.start_sandbox()
        service.manage("load_catalog", "catalog.example.yaml", SANDBOX_URL=sandbox.url)
        service.start_web()
        service.start_worker()
        yield {OURS: lambda: look(bench, service, sandbox.url)}


ROWS = [
    BenchRow(
        name="plans",
        what="sequential scans of big tables among all statements that web and worker run",
        goals=(Goal(figure="scans", at_most=0, unit="scans"),),
        quick_seconds=15,
        contest=explained,
        rounds=1,
    )
]
