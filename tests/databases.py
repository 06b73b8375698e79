"""Migrated databases for tests that start real processes: each gets one of its own, copied from a template."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
from django.db import connection
from psycopg import sql

from tools.stack import Stack

# A condition on pg_locks: other tests run in other databases of the server, whose tables may have the same numbers.
OF_THIS_DATABASE = "database = (SELECT oid FROM pg_database WHERE datname = current_database())"


def is_postgresql(url: str) -> bool:
    return url.startswith("postgres")


def renamed(url: str, name: str) -> str:
    """The URL of another database on the same server."""
    return urlsplit(url)._replace(path=f"/{name}").geturl()


def database_url() -> str:
    """The address of the test's own database, for other processes."""
    name = connection.settings_dict["NAME"]
    server = os.environ["DATABASE_URL"]
    return renamed(server, name) if is_postgresql(server) else f"sqlite:///{name}"


def execute(url: str, statement: str, *names: str) -> None:
    """Run a statement that names databases, outside of any transaction."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


class Databases:
    """Databases beside the one of a URL: on its PostgreSQL server, or SQLite files in `folder`."""

    def __init__(self, server: str, folder: Path, *, migrated: bool = True) -> None:
        self.folder = folder
        self.server = server
        self.template = f"template_{secrets.token_hex(6)}"
        self.url = self._empty(self.template)
        if migrated:
            Stack(environment={**os.environ, "DATABASE_URL": self.url}, folder=folder).manage("migrate", "--noinput")

    def _empty(self, name: str) -> str:
        if not is_postgresql(self.server):
            return f"sqlite:///{self.folder / name}"
        execute(self.server, "CREATE DATABASE {}", name)
        return renamed(self.server, name)

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """The URL of a copy of the template that lasts as long as the block."""
        name = f"darkroom_{secrets.token_hex(6)}"
        if is_postgresql(self.server):
            execute(self.server, "CREATE DATABASE {} TEMPLATE {}", name, self.template)
            yield renamed(self.server, name)
            execute(self.server, "DROP DATABASE {} WITH (FORCE)", name)
        else:
            shutil.copy(self.folder / self.template, self.folder / name)
            yield f"sqlite:///{self.folder / name}"

    def close(self) -> None:
        if is_postgresql(self.server):
            execute(self.server, "DROP DATABASE {} WITH (FORCE)", self.template)
