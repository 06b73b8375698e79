"""Starts the naive reference on a preloaded database of its own: gunicorn with two sync workers."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.surroundings import ACCOUNTS, TASKS, Bench
from tools.children import Child, free_port
from tools.stack import GUNICORN, ROOT


@contextmanager
def running(bench: Bench) -> Iterator[Child]:
    """Yields its process, with the base URL in `url`. Raises Missing."""
    with bench.copy("naive", fill) as database:
        port = free_port()
        folder = Path(tempfile.mkdtemp(dir=bench.folder))
        command = [GUNICORN[0], "--no-control-socket", "-w", "2", "-b", f"127.0.0.1:{port}", "bench.naive.application"]
        child = Child("naive", command, environment=environment(database), log=folder / "log")
        child.url = f"http://127.0.0.1:{port}"
        try:
            child.wait_for_line(r"(?s)Booting worker.*Booting worker")
            yield child
        finally:
            child.stop()


def environment(database: str) -> dict[str, str]:
    return {**os.environ, "NAIVE_DATABASE_URL": database, "PYTHONPATH": str(ROOT)}


def fill(database: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "bench.naive.application", str(ACCOUNTS), str(TASKS)],
        env=environment(database),
        cwd=ROOT,
        check=True,
    )
