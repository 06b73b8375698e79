"""Compares the schema of the database with the one that this code needs, by the migrations of both."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.apps import apps
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from common.version import version


class SchemaMismatch(Exception):
    """The database has another schema than this code needs; the message is one line that says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """Names of migrations, as `tasks.0001_initial`.

    `applied` are those of the database. `pending` are missing in it. `unknown` are applied, but this code does not have
    them; those of Django's own apps do not count, since they come with the version of Django.
    """

    applied: tuple[str, ...]
    pending: tuple[str, ...]
    unknown: tuple[str, ...]

    def mismatch(self) -> str:
        """What is wrong in one line; empty where nothing is."""
        if self.unknown:
            return (
                f"the database has the migration {self.unknown[0]}, which Darkroom {version()} does not have: "
                "start the release that applied it"
            )
        if self.pending:
            first, count = self.pending[0], len(self.pending)
            named = first if count == 1 else f"{first} and {count - 1} more migrations"
            return f"the database lacks {named} of Darkroom {version()}: run `manage.py migrate`"
        return ""


def read() -> Schema:
    """Raises DatabaseError where the database is away."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    plan = executor.migration_plan(loader.graph.leaf_nodes())
    applied = sorted(loader.applied_migrations)
    of_django = {config.label for config in apps.get_app_configs() if config.name.startswith("django.")}
    unknown = [key for key in applied if key not in loader.disk_migrations and key[0] not in of_django]
    return Schema(
        applied=_named(applied),
        pending=_named([(migration.app_label, migration.name) for migration, _ in plan]),
        unknown=_named(unknown),
    )


def check() -> None:
    """Raises SchemaMismatch, and DatabaseError where the database is away."""
    if reason := read().mismatch():
        raise SchemaMismatch(reason)


def _named(keys: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    return tuple(".".join(key) for key in keys)
