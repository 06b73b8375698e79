"""Measures a peer: N no-op jobs drained by one worker process, then single jobs on the idle worker.

A peer's program runs in its own environment as `peer.py --url URL --jobs N --pickups M`, and prints one JSON document.
It starts itself again as the worker, which reports over a pipe when jobs begin.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from typing import TextIO

PATIENCE = 120.0


class Meter:
    """Runs in the worker: `entered` is the whole job. A job with a send time reports how long it waited."""

    def __init__(self, jobs: int, told: TextIO) -> None:
        self.jobs = jobs
        self.count = 0
        self.started = 0.0
        self.cpu = 0.0
        self.told = told

    def entered(self, sent: float) -> None:
        now = time.monotonic()
        if sent:
            return self._tell((now - sent) * 1000)
        self.count += 1
        if self.count == 1:
            self.started, self.cpu = now, time.process_time()
        if self.count == self.jobs:
            self._tell({"seconds": now - self.started, "cpu": time.process_time() - self.cpu})

    def _tell(self, value: object) -> None:
        self.told.write(json.dumps(value) + "\n")
        self.told.flush()


def main(
    *, prepare: Callable[[str], str], enqueue: Callable[[str, list[float]], None], work: Callable[[str, Meter], None]
) -> None:
    """Runs the measurement. `prepare` gets the URL of an empty database and returns the one to use; `enqueue` queues
    jobs with these send times, 0.0 for a job that is only counted; `work` runs one worker until it is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="")
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--pickups", type=int, default=60)
    parser.add_argument("--tell", type=int, default=0, help="for the worker: the descriptor to report over")
    given = parser.parse_args()
    if given.tell:
        with os.fdopen(given.tell, "w") as told:
            return work(given.url, Meter(given.jobs, told))
    url = prepare(given.url)
    enqueue(url, [0.0] * given.jobs)
    sys.stdout.write(json.dumps(measured(url, given.jobs, given.pickups, enqueue)) + "\n")


def measured(url: str, jobs: int, pickups: int, enqueue: Callable[[str, list[float]], None]) -> dict[str, object]:
    reading, writing = os.pipe()
    command = [sys.executable, sys.argv[0], "--url", url, "--jobs", str(jobs), "--tell", str(writing)]
    worker = subprocess.Popen(command, pass_fds=[writing], stdout=subprocess.DEVNULL)
    os.close(writing)
    try:
        with os.fdopen(reading) as told:
            drained = json.loads(told.readline() or "null")
            if drained is None:
                raise SystemExit("the worker ended early")
            if pickups:
                time.sleep(1.0)
            waited = [picked_up(url, told, enqueue) for _ in range(pickups)]
    finally:
        worker.kill()
        worker.wait()
    return {
        "jobs_per_second": (jobs - 1) / drained["seconds"],
        "cpu_per_job": drained["cpu"] / jobs,
        "pickup_ms": waited,
    }


def picked_up(url: str, told: TextIO, enqueue: Callable[[str, list[float]], None]) -> float:
    """Returns the milliseconds from just before a single job is enqueued until it begins."""
    time.sleep(random.uniform(0.03, 0.08))
    enqueue(url, [time.monotonic()])
    return float(json.loads(told.readline()))
