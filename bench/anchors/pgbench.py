"""Runs pgbench with a script of this folder."""

import os
import re
import subprocess

from bench.anchors.script import BODY, FOLDER
from bench.model import Incorrect, Sample
from bench.postgres import client_environment
from bench.surroundings import Bench


def run(bench: Bench, url: str, script: str, *, clients: int, accounts: int) -> Sample:
    """The rate of `script`.sql over so many accounts. Raises Missing, Incorrect."""
    much = ["-n", "-M", "prepared", "-c", str(clients), "-j", "1", "-T", str(max(1, round(bench.seconds)))]
    given = ["-D", f"accounts={accounts}", "-D", f"body={BODY}"]
    answer = subprocess.run(
        [bench.databases.program("pgbench"), *much, *given, "-f", str(FOLDER / f"{script}.sql")],
        env={**os.environ, **client_environment(url)},
        capture_output=True,
        text=True,
    )
    rate = re.search(r"^tps = ([0-9.]+)", answer.stdout, re.MULTILINE)
    if answer.returncode or rate is None:
        raise Incorrect(f"pgbench: {answer.stderr.strip()[-300:]}")
    return Sample(figures={"rate": float(rate[1])})
