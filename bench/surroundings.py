"""Surroundings of the rows: the measured tree, a scratch folder, the database server, and services of the tree."""

import os
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

import cryptography.fernet

from bench import load, postgres, seed
from bench.model import Missing
from bench.postgres import Databases
from bench.service import BenchService
from tools.stack import ROOT

Kept = TypeVar("Kept")
ACCOUNTS = 1_000
TASKS = 30_000


class Bench:
    """One run of the benchmark, which stops at its end everything it started."""

    def __init__(self, *, tree: Path, is_quick: bool, rounds: int) -> None:
        self.tree = tree
        self.is_quick = is_quick
        self.rounds = rounds
        self.seconds = 2 if is_quick else 4
        self.script_seconds = 1 if is_quick else 4  # for references that do not slow down as their tables grow
        self.folder = Path(tempfile.mkdtemp(prefix="darkroom-bench-"))
        self.secrets = {
            "SECRET_KEY": "bench-" + os.urandom(40).hex(),
            "ENCRYPTION_KEYS": cryptography.fernet.Fernet.generate_key().decode(),
        }
        self._stack = ExitStack()
        self._filling = threading.Lock()
        self._templates: dict[str, str] = {}
        self._kept: dict[str, Any] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def python(self) -> Path:
        """Returns the measured tree's own interpreter."""
        own = self.tree / ".venv" / "bin" / "python"
        return own if own.exists() else ROOT / ".venv" / "bin" / "python"

    @cached_property
    def databases(self) -> Databases:
        """Returns the PostgreSQL server, started on first use. Raises Missing."""
        return self._stack.enter_context(postgres.databases())

    @contextmanager
    def database(self, *, tasks: int = TASKS) -> Iterator[str]:
        """Yields the URL of a PostgreSQL database of the tree, preloaded and analyzed. Raises Missing."""
        with self.copy(f"{tasks} tasks", lambda url: self.fill(url, tasks=tasks)) as url:
            yield url

    @contextmanager
    def copy(self, kind: str, fill: Callable[[str], None]) -> Iterator[str]:
        """Yields the URL of a copy of the `kind` template, which is filled on first use. Raises Missing."""
        with self._filling:
            server = self.databases
            if kind not in self._templates:
                template = server.empty("template")
                fill(template)
                self._templates[kind] = template
            url = server.copy(self._templates[kind])
        try:
            yield url
        finally:
            server.drop(url)

    @contextmanager
    def sqlite(self, *, tasks: int = TASKS) -> Iterator[str]:
        """Yields the URL of a preloaded SQLite file."""
        kind = f"sqlite-{tasks}"
        if kind not in self._templates:
            template = self.folder / f"template-{tasks}.sqlite3"
            self.fill(f"sqlite:///{template}", tasks=tasks)
            self._templates[kind] = str(template)
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            file = Path(name) / "darkroom.sqlite3"
            shutil.copyfile(self._templates[kind], file)
            yield f"sqlite:///{file}"

    def fill(self, url: str, *, tasks: int) -> None:
        """Migrates and loads: the example catalog, accounts with a key each, and ended tasks."""
        service = self._new_service(url)
        service.manage("migrate", "--noinput")
        service.manage("load_catalog", "catalog.example.yaml")
        script = [str(self.python), "-P", str(Path(seed.__file__)), "--accounts", str(ACCOUNTS), "--tasks", str(tasks)]
        answer = subprocess.run(script, cwd=self.tree, env=service.environment, capture_output=True, text=True)
        if answer.returncode:
            raise RuntimeError(f"the database could not be filled:\n{answer.stdout}{answer.stderr}")

    @contextmanager
    def service(self, database_url: str, **environment: str) -> Iterator[BenchService]:
        """Yields a service of the tree on this database, with no processes started; stops them at the end."""
        service = self._new_service(database_url, **environment)
        try:
            yield service
        finally:
            service.stop()

    def _new_service(self, database_url: str, **environment: str) -> BenchService:
        return BenchService(
            tree=self.tree,
            python=self.python,
            folder=Path(tempfile.mkdtemp(dir=self.folder)),
            database_pid=self.databases.pid if database_url.startswith("postgres") else None,
            environment={**self.secrets, "DATABASE_URL": database_url, **environment},
        )

    def keep(self, name: str, opening: AbstractContextManager[Kept]) -> Kept:
        """Opens what several rows share, on first use; closed at the end of the run."""
        if name not in self._kept:
            self._kept[name] = self._stack.enter_context(opening)
        kept: Kept = self._kept[name]
        return kept

    def versions(self) -> dict[str, str]:
        """Returns the versions of everything started so far."""
        found = {"load": load.described()}
        if "databases" in self.__dict__:
            found["PostgreSQL"] = self.databases.version()
        return found


def tool(name: str) -> str:
    """Returns the path of a program. Raises Missing."""
    found = shutil.which(name)
    if found is None:
        raise Missing(name)
    return found
