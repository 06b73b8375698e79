"""Migrations make of an empty database what is recorded in `tests/data/schema/`, and it is what the models describe."""

import os
import subprocess
import sys

import pytest
from django.core.management import call_command

from tests.databases import Databases, is_postgresql
from tests.schema import RECORDED
from tools.stack import ROOT


def migrated(url: str, *arguments: str) -> str:
    """What the program prints of the database."""
    command = [sys.executable, *arguments]
    environment = {**os.environ, "DATABASE_URL": url}
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def recorded(databases: Databases) -> list[str]:
    kind = "postgresql" if is_postgresql(databases.url) else "sqlite"
    return (RECORDED / f"{kind}.txt").read_text().splitlines()


def test_the_schema_of_a_migrated_database_is_the_recorded_one(databases: Databases, recorded: list[str]) -> None:
    with databases.fresh() as url:
        assert migrated(url, "-m", "tests.schema").splitlines() == recorded


def test_an_app_that_was_migrated_back_is_made_again(databases: Databases, recorded: list[str]) -> None:
    with databases.fresh() as url:
        migrated(url, "manage.py", "migrate", "billing", "zero")
        assert migrated(url, "-m", "tests.schema").splitlines() == recorded


@pytest.mark.django_db
def test_models_and_migrations_agree() -> None:
    call_command("makemigrations", check_changes=True, dry_run=True, verbosity=0)
