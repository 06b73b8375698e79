"""What is collected: the same in every process, or pytest-xdist refuses to run any of it."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools.children import PATIENCE
from tools.stack import ROOT

# Of two processes that begin so many seconds apart; the clock is set before any test is read.
COLLECT = """
import sys, time, pytest
now = time.time
time.time = lambda: now() + {}
sys.exit(pytest.main(["--collect-only", "--quiet", "-p", "no:randomly", "-p", "no:cacheprovider", "tests"]))
"""


def collected(seconds_later: int) -> list[str]:
    """The ids of all tests, in their order; sets have an order of their own in each process."""
    answer = subprocess.run(
        [sys.executable, "-c", COLLECT.format(seconds_later)],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seconds_later)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return [line for line in answer.stdout.splitlines() if "::" in line]


@pytest.mark.slow
@pytest.mark.once
def test_processes_that_collect_at_different_times_agree():
    with ThreadPoolExecutor() as threads:
        now, later = threads.map(collected, (1, 100_000))
    assert now == later
    assert len(now) == len(set(now)) > 1_000


def test_no_id_holds_bytes_or_a_text_that_nobody_reads(request):
    for item in request.session.items:
        assert item.name.isprintable(), item.name
        assert "\\x" not in item.name, item.name
        assert len(item.name) < 250, item.name
