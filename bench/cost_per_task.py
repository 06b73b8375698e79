"""Measures what one task costs: `python -m bench.cost_per_task [--tasks N] [--json FILE]`.

Starts web, worker, sandbox and, unless DATABASE_URL names one, a PostgreSQL server; buys N pictures from the sandbox
over HTTP, eight at a time; prints, per task, CPU seconds by kind of process, commits, rows, bytes by table and WAL
bytes. On a server that others use too, the figures include theirs.
"""

import argparse
import http.client
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg

from tests import postgres
from tools import demo
from tools.children import Child, wait_until
from tools.stack import CATALOG, Stack

CLIENTS = 8
ONE = {"model": "aurora-image", "modality": "image", "params": {"prompt": "a red fox in fresh snow at dawn"}}
SIZES = """
SELECT c.relname, pg_total_relation_size(c.oid), s.n_tup_ins
FROM pg_class c JOIN pg_stat_user_tables s ON s.relid = c.oid
"""
LIMITS = "UPDATE {} SET max_queued = 1000000, max_running = 1000000"


def cpu(process: psutil.Process) -> float:
    """Returns the CPU seconds of the process and all its descendants, including ended ones."""
    total = 0.0
    for each in (process, *process.children(recursive=True)):
        times = each.cpu_times()
        total += times.user + times.system
    ended = process.cpu_times()
    return total + ended.children_user + ended.children_system


def postmaster(database: psycopg.Connection[Any]) -> psutil.Process:
    return psutil.Process(database.info.backend_pid).parent() or psutil.Process(database.info.backend_pid)


class Figures:
    """Resources spent so far."""

    def __init__(self, database: psycopg.Connection[Any], children: dict[str, Child]) -> None:
        self.database = database
        self.processes = {name: psutil.Process(child.process.pid) for name, child in children.items()}
        self.processes["database"] = postmaster(database)

    def read(self) -> dict[str, Any]:
        time.sleep(11)  # an idle session reports its statistics after ten seconds
        sizes = self.database.execute(SIZES).fetchall()
        (wal, commits) = self.database.execute(
            "SELECT pg_current_wal_lsn() - '0/0', xact_commit FROM pg_stat_database WHERE datname = current_database()"
        ).fetchone() or (0, 0)
        return {
            **{f"cpu ms, {name}": cpu(process) * 1000 for name, process in self.processes.items()},
            "commits": commits,
            "WAL bytes": float(wal),
            **{f"bytes, {name}": size for name, size, _ in sizes},
            **{f"rows, {name}": rows for name, _, rows in sizes},
        }


def buy(base_url: str, key: str, count: int) -> None:
    """Buys this many pictures over one connection."""
    host = urlsplit(base_url)
    client = http.client.HTTPConnection(host.hostname or "", host.port, timeout=60)
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    for _ in range(count):
        client.request("POST", "/v1/tasks", json.dumps(ONE), headers)
        answer = client.getresponse()
        said = answer.read()
        if answer.status != 202:
            raise SystemExit(f"{answer.status}: {said[:500]!r}")
    client.close()


def measured(database_url: str, folder: Path, tasks: int) -> dict[str, float]:
    environment = {**demo.environment(folder), "DATABASE_URL": database_url, "RATE_LIMITS": "off", "DEBUG": "true"}
    stack = Stack(environment=environment, folder=folder)
    with ExitStack() as until_end:
        until_end.callback(stack.stop)
        stack.manage("migrate", "--noinput")
        sandbox = stack.start_sandbox()
        stack.environment["SANDBOX_URL"] = str(sandbox.url)
        stack.load_catalog(CATALOG.read_text(encoding="utf-8").replace("max_running: 20", "max_running: 1000"))
        stack.manage("create_account", "measured", "--credit", "1000000")
        key = str(stack.manage_json("create_key", "measured")["key"])
        database = until_end.enter_context(psycopg.connect(database_url, autocommit=True))
        for table in ("accounts_account", "accounts_apikey"):
            database.execute(LIMITS.format(table))
        figures = Figures(database, {"web": stack.start_web(), "worker": stack.start_worker()})
        count = "SELECT count(*) FROM tasks_task WHERE status = 'succeeded'"

        def run(number: int) -> None:
            before = (database.execute(count).fetchone() or (0,))[0]
            with ThreadPoolExecutor(CLIENTS) as clients:
                list(clients.map(lambda _: buy(stack.base_url, key, number // CLIENTS), range(CLIENTS)))
            whole = before + number // CLIENTS * CLIENTS
            wait_until(
                lambda: (database.execute(count).fetchone() or (0,))[0] == whole, what="the last task", timeout=900
            )

        run(200)
        before = figures.read()
        run(tasks)
        after = figures.read()
    return {name: (after[name] - before[name]) / tasks for name in after if after[name] != before[name]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=2000, help="a multiple of eight")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as until_end, tempfile.TemporaryDirectory() as folder:
        url = os.environ.get("DATABASE_URL", "") or until_end.enter_context(postgres.server())
        found = measured(url, Path(folder), options.tasks)
    for name, value in sorted(found.items()):
        sys.stdout.write(f"{name:40} {value:12.2f}\n")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
