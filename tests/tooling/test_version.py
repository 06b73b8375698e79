"""`manage.py version`, and what web and worker do where the database has another schema than the code."""

import json
import re
import tomllib

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from common.database import schema
from common.version import version
from config import version_command
from reference import document
from tests.processes import TestStack
from tools.stack import ROOT

NEWER = """
import django
django.setup()
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
MigrationRecorder(connection).record_applied("tasks", "0999_next")
"""


@pytest.fixture
def changed(stack: TestStack) -> TestStack:
    """An installation whose database a newer release has migrated."""
    assert stack.python("-c", NEWER, DJANGO_SETTINGS_MODULE="config.settings").returncode == 0
    return stack


def test_it_tells_the_version_and_the_migrations_of_the_database(stack: TestStack) -> None:
    answer = stack.manage_json("version")
    assert answer.keys() == {"version", "database"}
    assert answer["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert answer["database"]["pending"] == []
    assert {"accounts.0001_initial", "tasks.0001_initial"} <= set(answer["database"]["applied"])


def test_without_json_it_tells_the_same_in_lines() -> None:
    found = schema.Schema(applied=("tasks.0001_initial",), pending=("tasks.0002_next",), unknown=())
    assert version_command.lines(found) == [f"version: {version()}", "applied: 1", "pending: tasks.0002_next"]


@pytest.mark.once
@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"DATABASE_URL": "postgresql://darkroom:hidden@127.0.0.1:1/darkroom"}, "database: "),
        ({"DEBUG": "false", "SECRET_KEY": ""}, "settings: SECRET_KEY "),
    ],
)
def test_it_tells_the_version_without_a_database_or_settings(stack: TestStack, environment, said) -> None:
    answer = stack.manage("version", "--json", **environment)
    assert json.loads(answer.stdout) == {"version": version(), "database": {"applied": None, "pending": None}}
    assert answer.stderr.startswith(said)
    assert len(answer.stderr.splitlines()) == 1
    assert "hidden" not in answer.stderr


@pytest.mark.once
def test_beside_an_empty_database_it_tells_what_is_missing_and_a_worker_refuses_to_start(stack, tmp_path) -> None:
    empty = {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty'}"}
    told = json.loads(stack.manage("version", "--json", **empty).stdout)["database"]
    assert told["applied"] == []
    assert "tasks.0001_initial" in told["pending"]
    worker = stack.manage("run_worker", check=False, **empty)
    assert worker.returncode == 1
    lacks = rf"the database lacks \S+ and \d+ more migrations of Darkroom {version()}: run `manage.py migrate`"
    assert re.fullmatch(rf"CommandError: {lacks}\n", worker.stderr)


def test_another_argument_is_refused_in_one_line(capsys) -> None:
    assert version_command.main(["--yaml"]) == 1
    assert re.fullmatch(r"CommandError: '--yaml' is no argument; .*\n", capsys.readouterr().err)


def test_a_worker_refuses_the_database_of_a_newer_release_in_one_line(changed: TestStack) -> None:
    answer = changed.manage("run_worker", check=False)
    assert answer.returncode == 1
    assert re.fullmatch(r"CommandError: the database has the migration tasks\.0999_next, which .*\n", answer.stderr)


def test_the_web_process_refuses_the_database_of_a_newer_release_in_one_line(changed: TestStack) -> None:
    web = changed.start("web", *changed._gunicorn)
    assert web.wait() != 0
    assert len([line for line in web.text().splitlines() if "tasks.0999_next" in line]) == 1
    assert "Traceback" not in web.text()


def test_migrations_of_django_that_this_one_does_not_have_are_no_mismatch(db) -> None:
    MigrationRecorder(connection).record_applied("auth", "0999_next")
    assert schema.read().mismatch() == ""


def test_every_place_that_names_the_version_names_this_one() -> None:
    label = re.search(r'LABEL org\.opencontainers\.image\.version="(.*)"', (ROOT / "Dockerfile").read_text())
    assert label
    assert {label[1], document.document()["info"]["version"]} == {version()}
