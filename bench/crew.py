"""Shared by the rows about workers: a service that sells the row's provider, preloaded queues, and the work done.

PostgreSQL only, except `started` and `submitted`.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import psycopg
import requests

from bench import clones, correctness, plugin, processor, seed
from bench.model import Incorrect
from bench.service import BenchService
from bench.surroundings import Bench
from tools.children import Child
from tools.stack import MANAGE, ROOT

PATIENCE = 60.0
LIVE = "SELECT count(*) FROM tasks_task WHERE status IN ('queued', 'running')"
ENDS = """
SELECT count(*), count(*) FILTER (WHERE status <> 'succeeded'), extract(epoch FROM min(started_at)),
    extract(epoch FROM max(finished_at))
FROM tasks_task WHERE id LIKE '{prefix}%' AND finished_at IS NOT NULL
"""


@contextmanager
def started(bench: Bench, url: str, offer: str, **environment: str) -> Iterator[BenchService]:
    """Yields a service on this database that sells this offer and knows the instant adapter."""
    plugged = {"PYTHONPATH": str(plugin.install(bench.folder)), "WEB_CONCURRENCY": "1", **environment}
    with bench.service(url, **plugged) as service:
        service.load_catalog(offer)
        yield service


def start_worker(service: BenchService, *, concurrency: int, lanes: str = "tasks") -> Child:
    """Starts a worker and waits until it works; its database connections are named `worker`."""
    arguments = ("--lanes", lanes, "--concurrency", str(concurrency))
    worker = service.start_worker(*arguments, PGAPPNAME="worker")
    worker.wait_for_line(r"worker \w+ starts", timeout=PATIENCE)
    return worker


def submitted(service: BenchService, body: Mapping[str, Any], *, number: int = 0, prompt: str = "") -> str:
    """Submits a task for this account; returns its id. Raises Incorrect."""
    sent = {**body, "params": {**body["params"], **({"prompt": prompt} if prompt else {})}}
    headers = {"Authorization": seed.authorizations(number + 1)[number]}
    answer = requests.post(f"{service.base_url}/v1/tasks", json=sent, headers=headers, timeout=PATIENCE)
    if answer.status_code != 202:
        raise Incorrect(f"a submission was answered {answer.status_code}: {answer.text[:200]}")
    return str(answer.json()["id"])


def preload(service: BenchService, body: Mapping[str, Any], count: int, *, owners: int = clones.OWNERS) -> str:
    """Queues `count` tasks, one by HTTP and its copies by the database; returns the prefix of their ids."""
    web = service.start_web()
    first = submitted(service, body)
    web.stop()
    clones.copied(service.database_url, first, count - 1, owners=owners)
    return first[:15]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preloaded:
    """A database with a full queue, used only as a template; the ids of its queued tasks begin with `prefix`."""

    bench: Bench
    url: str
    prefix: str

    @contextmanager
    def copy(self, **environment: str) -> Iterator[BenchService]:
        """Yields a service on a copy of the database, with no processes started."""
        url, plugged = self.bench.databases.copy(self.url), {"PYTHONPATH": str(plugin.install(self.bench.folder))}
        try:
            with self.bench.service(url, **plugged, **environment) as service:
                yield service
        finally:
            self.bench.databases.drop(url)


@contextmanager
def preloaded(bench: Bench, offer: str, body: Mapping[str, Any], count: int) -> Iterator[Preloaded]:
    """Yields `count` queued tasks of this offer, for each round to begin with."""
    with bench.database() as url:
        with started(bench, url, offer) as service:
            prefix = preload(service, body, count)
        yield Preloaded(bench=bench, url=url, prefix=prefix)


def fetch(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement.encode()).fetchall()


def until(condition: Callable[[], bool], *, seconds: float, every: float = 0.1) -> bool:
    """Waits for the condition; False after a timeout."""
    ends_at = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends_at:
            return False
        time.sleep(every)
    return True


def all_ended(url: str) -> Callable[[], bool]:
    return lambda: not fetch(url, f"{LIVE} LIMIT 1")[0][0]


class Ended:
    """The ended tasks whose ids have this prefix, all of which succeeded. Raises Incorrect."""

    def __init__(self, url: str, prefix: str) -> None:
        ((count, failed, started_at, finished_at),) = fetch(url, ENDS.format(prefix=prefix))
        if failed or not count:
            raise Incorrect(f"{failed} of {count} ended tasks did not succeed")
        self.count = int(count)
        self.seconds = float(finished_at - started_at)

    @property
    def rate(self) -> float:
        return self.count / self.seconds


def check(service: BenchService) -> None:
    """Raises Incorrect unless tasks, holds, payloads, first events and books agree."""
    counted = correctness.counts(service.database_url)
    if len({counted.tasks, counted.holds, counted.payloads, counted.queued_events}) != 1:
        raise Incorrect(f"tasks, holds, payloads and first events differ: {counted}")
    correctness.check_ledger(service)


class Watch:
    """Records the peak of a worker's memory and database connections, sampled ten times a second."""

    def __init__(self, worker: Child, url: str) -> None:
        self.worker = worker
        self.url = url
        self.rss_mb = 0.0
        self.connections = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        counting = (
            b"SELECT count(*) FROM pg_stat_activity WHERE application_name = 'worker' AND datname = current_database()"
        )
        with psycopg.connect(self.url, autocommit=True) as connection:
            while not self._over.wait(0.1):
                self.rss_mb = max(self.rss_mb, processor.resident_mb(self.worker.process.pid))
                self.connections = max(self.connections, *connection.execute(counting).fetchone() or (0,))


class BenchProvider:
    """The provider of `bench/provider.py` in a process of its own."""

    def __init__(self, service: BenchService) -> None:
        log = service.folder / "provider.log"
        command = (MANAGE[0], "-m", "bench.provider")
        self.child = Child("provider", command, environment=service.environment, log=log, folder=ROOT)
        service.children.append(self.child)
        self.url = self.child.wait_for_line(r"provider listening on (http://\S+)", timeout=PATIENCE)[1]

    def set(self, **values: object) -> None:
        requests.post(f"{self.url}/_/set", data=json.dumps(values), timeout=PATIENCE).raise_for_status()

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = requests.get(f"{self.url}/_/report", timeout=PATIENCE).json()
        return found


def written(url: str) -> int:
    """Returns the rows written in this database so far, by anybody."""
    time.sleep(1.1)  # sessions report statistics once a second
    ((rows,),) = fetch(
        url,
        "SELECT tup_inserted + tup_updated + tup_deleted FROM pg_stat_database WHERE datname = current_database()",
    )
    return int(rows)
