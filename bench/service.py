"""Runs the service of the measured tree: its processes, its commands, and their CPU seconds by kind."""

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench import processor
from tools.children import free_port
from tools.stack import Stack

WEB_PROCESSES = "2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """CPU seconds so far. `database` is 0 if the server is not ours, and for SQLite, which has no process."""

    web: float
    worker: float
    database: float

    def since(self, before: "Spent") -> "Spent":
        return Spent(
            web=self.web - before.web, worker=self.worker - before.worker, database=self.database - before.database
        )

    def each(self, count: float) -> Mapping[str, float]:
        """Returns milliseconds for each of `count` tasks; `cpu_ms` is the sum."""
        if not count:
            return {}
        kinds = {"web_": self.web, "worker_": self.worker, "database_": self.database}
        found = {f"{name}cpu_ms": value * 1000 / count for name, value in kinds.items() if value}
        return {"cpu_ms": sum(found.values()), **found}


class BenchService(Stack):
    """A stack of the measured tree, with limits out of reach. Its children are named web, worker and sandbox."""

    def __init__(
        self, *, tree: Path, python: Path, folder: Path, database_pid: int | None, environment: Mapping[str, str]
    ) -> None:
        port = str(free_port())
        self.database_pid = database_pid
        super().__init__(
            environment={
                **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
                "ASSET_STORAGE": f"file://{folder / 'assets'}",
                "HOST": "127.0.0.1",
                "PORT": port,
                "PUBLIC_BASE_URL": f"http://127.0.0.1:{port}",
                "ALLOWED_HOSTS": "127.0.0.1,localhost",
                "OUTBOUND_ALLOW_NETWORKS": "127.0.0.0/8",
                "RATE_LIMITS": "off",
                "WEB_CONCURRENCY": WEB_PROCESSES,
                "DEBUG": "false",
                **environment,
            },
            folder=folder,
            root=tree,
            python=python,
        )

    @property
    def database_url(self) -> str:
        return self.environment["DATABASE_URL"]

    def pids(self, name: str) -> list[int]:
        """Returns the main processes of this kind."""
        return [child.process.pid for child in self.children if child.name == name and child.is_running]

    def spent(self) -> Spent:
        """Returns the CPU seconds so far. Raises Missing where the system does not report them."""
        return Spent(
            web=sum(map(processor.seconds, self.pids("web"))),
            worker=sum(map(processor.seconds, self.pids("worker"))),
            database=processor.seconds(self.database_pid),
        )

    def manage(self, *arguments: str, check: bool = True, **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs a command like `Stack.manage`, without Django's system checks: a run has dozens of commands."""
        name, *others = arguments
        return super().manage(name, "--skip-checks", *others, check=check, **environment)

    def pause(self) -> None:
        """Suspends all processes, so that they take nothing from a reference that runs."""
        self._signal(signal.SIGSTOP)

    def unpause(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for child in self.children:
            if child.is_running:
                os.killpg(child.process.pid, number)

    def stop(self) -> None:
        self.unpause()
        super().stop()

    def last_words(self) -> str:
        """Returns the ends of all logs, for a message."""
        return "\n".join(f"{child.name}:\n{child.tail()}" for child in self.children)
