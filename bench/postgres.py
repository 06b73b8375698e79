"""Provides PostgreSQL for the benchmark: the server of BENCH_DATABASE_URL, or a private one, as durable as in
production.

Databases are copies of templates, so that each row begins with the same preloaded tables.
"""

import contextlib
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import psycopg
from psycopg import sql

from bench.model import Missing
from tests.databases import renamed
from tests.postgres import NoPostgres, Server

SETTINGS = {
    "listen_addresses": "''",
    "max_connections": "300",
    "shared_buffers": "512MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "max_wal_size": "4GB",
}


class DurableServer(Server):
    """A private server on a Unix socket that flushes each commit to disk."""

    def start(self) -> None:
        """Starts the server. Raises NoPostgres with the server's message."""
        self._run("initdb", "-U", "darkroom", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        settings = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())
        log = str(self.scratch / "log")
        self._run("pg_ctl", "-w", "-t", "300", "-l", log, "-o", f"-k '{self.scratch}' {settings}", "start")

    @property
    def pid(self) -> int:
        return int((self.scratch / "data" / "postmaster.pid").read_text().split()[0])


class Databases:
    """Databases on one server. For a private one, `pid` is its main process, `log` its log, `folder` that of its
    programs."""

    def __init__(
        self, url: str, *, pid: int | None = None, log: Path | None = None, folder: Path | None = None
    ) -> None:
        self.url = url
        self.pid = pid
        self.log = log
        self.folder = folder

    def program(self, name: str) -> str:
        """Returns the path of one of PostgreSQL's programs. Raises Missing."""
        beside = self.folder / name if self.folder else None
        found = str(beside) if beside and beside.exists() else shutil.which(name)
        if found is None:
            raise Missing(name)
        return found

    def execute(self, statement: str, *names: str, url: str = "") -> None:
        """Runs a statement that names database objects, outside a transaction."""
        with psycopg.connect(url or self.url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))

    def empty(self, prefix: str) -> str:
        """Creates a database; returns its URL."""
        name = f"{prefix}_{secrets.token_hex(4)}"
        self.execute("CREATE DATABASE {}", name)
        return renamed(self.url, name)

    def copy(self, template_url: str) -> str:
        """Creates a database as a copy of an idle one; returns its URL."""
        name, template = f"bench_{secrets.token_hex(4)}", name_of(template_url)
        self.execute("CREATE DATABASE {} TEMPLATE {}", name, template)
        return renamed(self.url, name)

    def drop(self, url: str) -> None:
        self.execute("DROP DATABASE IF EXISTS {} WITH (FORCE)", name_of(url))

    def emulate_flush(self, url: str) -> None:
        """Makes each commit in this database wait 1 ms before its flush, as on a slower disk. Raises Missing."""
        try:
            self.execute("ALTER DATABASE {} SET commit_delay = 1000", name_of(url))
            self.execute("ALTER DATABASE {} SET commit_siblings = 0", name_of(url))
        except psycopg.errors.InsufficientPrivilege as error:
            raise Missing("the right to set commit_delay") from error

    def version(self) -> str:
        with psycopg.connect(self.url) as connection:
            return str(connection.info.parameter_status("server_version"))


def name_of(url: str) -> str:
    return urlsplit(url).path.removeprefix("/")


def client_environment(url: str) -> dict[str, str]:
    """Returns the environment with which libpq programs such as pgbench connect."""
    parts = urlsplit(url)
    host = parts.hostname or parse_qs(parts.query).get("host", [""])[0]
    found = {
        "PGHOST": unquote(host),
        "PGPORT": str(parts.port or ""),
        "PGUSER": unquote(parts.username or ""),
        "PGPASSWORD": unquote(parts.password or ""),
        "PGDATABASE": name_of(url),
    }
    return {name: value for name, value in found.items() if value}


@contextlib.contextmanager
def databases() -> Iterator[Databases]:
    """Yields the server. Raises Missing."""
    if given := os.environ.get("BENCH_DATABASE_URL"):
        yield Databases(given)
        return
    scratch = Path(tempfile.mkdtemp(prefix="darkroom-bench-pg-"))
    try:
        try:
            server = DurableServer(scratch)
            server.start()
        except NoPostgres as error:
            raise Missing("PostgreSQL") from error
        try:
            yield Databases(server.url, pid=server.pid, log=scratch / "log", folder=server.folder)
        finally:
            server.stop()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
