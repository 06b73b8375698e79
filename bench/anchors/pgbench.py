"""Runs pgbench with a script of this folder."""

import os
import re
import resource
import subprocess

from bench import processor
from bench.anchors.script import BODY, FOLDER
from bench.model import Incorrect, Sample
from bench.postgres import client_environment
from bench.surroundings import Bench


def run(bench: Bench, url: str, script: str, *, clients: int, accounts: int) -> Sample:
    """Returns the rate of `script`.sql over this many accounts. Raises Missing, Incorrect."""
    much = ["-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(bench.seconds)]
    given = ["-D", f"accounts={accounts}", "-D", f"body={BODY}"]
    spent = cpu_seconds(bench)
    answer = subprocess.run(
        [bench.databases.program("pgbench"), *much, *given, "-f", str(FOLDER / f"{script}.sql")],
        env={**os.environ, **client_environment(url)},
        capture_output=True,
        text=True,
    )
    rate = re.search(r"^tps = ([0-9.]+)", answer.stdout, re.MULTILINE)
    if answer.returncode or rate is None:
        raise Incorrect(f"pgbench: {answer.stderr.strip()[-300:]}")
    done = re.search(r"actually processed: (\d+)", answer.stdout)
    cpu = (cpu_seconds(bench) - spent) * 1000 / max(1, int(done[1]) if done else 1)
    return Sample(figures={"rate": float(rate[1]), "cpu_ms": cpu})


def cpu_seconds(bench: Bench) -> float:
    """Returns the CPU seconds of the database and of ended child processes."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return processor.seconds(bench.databases.pid) + ended.ru_utime + ended.ru_stime
