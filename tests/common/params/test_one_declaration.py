"""A params field is declared in one place: who declares another one there need not touch any reader, and what is said
elsewhere alone is noticed."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.children import ROOT

EDITED = ("adapters", "common")
ROW = """
        Param(
            name="seed",
            kind=ParamKind.WHOLE,
            since="1.1",
            least=0,
            most=4294967295,
            description="Makes a film again.",
            rule="0 to {most}",
            example=7,
        ),
"""
MEMBER = "    seed: int | None = None\n"
LAST_ROW = '        Param(\n            name="provider_options"'
LAST_MEMBER = "    mask: ImageRef | None = None\n"
SCHEMA = {"minimum": 0, "maximum": 4294967295}
NOTICED: dict[str, Any] = {
    "the parser": [
        7,
        "params.seed must be an integer from 0 to 4294967295.",
        "params.seed is not supported by this model.",
    ],
    "the stored form": [7, True],
    "params_schema": [{"type": ["integer", "null"], **SCHEMA}, {"type": "null"}],
    "what routes can express": [{"values": []}, None],
    "the OpenAPI document": {
        "type": ["integer", "null"],
        "description": "Makes a film again. Since version 1.1.",
        **SCHEMA,
    },
    "the interface's table": ["| `seed` | integer | 0 to 4,294,967,295; since version 1.1 |"],
    "the console's form": ["number", "Seed", 0, 4294967295, True],
    "the matrix of adapters": {"runway": "–", "seeded": "yes"},
    "adapters": [["params.seed"], []],
    "older plug-ins": False,
}


def tree(folder: Path, *, row: bool, member: bool) -> Path:
    """Ours, with the row of a new field and its member of TaskRequest, or with one of them alone."""
    for path in ROOT.iterdir():
        if path.name not in (*EDITED, ".git", ".venv"):
            (folder / path.name).symlink_to(path)
    for name in EDITED:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    if row:
        insert(folder / "common/params/video.py", LAST_ROW, ROW.lstrip("\n") + LAST_ROW)
    if member:
        insert(folder / "adapters/base.py", LAST_MEMBER, LAST_MEMBER + MEMBER)
    return folder


def insert(file: Path, before: str, after: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(before) == 1, file
    file.write_text(text.replace(before, after), encoding="utf-8")


def run(folder: Path, *program: str) -> subprocess.CompletedProcess[str]:
    of_django = {"DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "true", "DATABASE_URL": "sqlite://:memory:"}
    environment = {**os.environ, **of_django, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *program], cwd=folder, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tree(tmp_path_factory.mktemp("tree"), row=True, member=True)
    ended = run(folder, "-m", "tests.common.params.added_field")
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.mark.parametrize("reader", NOTICED)
def test_a_field_that_is_declared_reaches_every_reader(reader: str, told: dict[str, Any]) -> None:
    assert told[reader] == NOTICED[reader]
    assert told.keys() == NOTICED.keys()


@pytest.mark.parametrize("part", ["row", "member"])
def test_a_field_that_is_declared_by_half_keeps_the_service_from_starting(part: str, tmp_path: Path) -> None:
    ended = run(tree(tmp_path, row=part == "row", member=part == "member"), "-c", "import adapters.base")
    assert ended.returncode == 1
    assert ended.stderr.endswith("TypeError: TaskRequest and common/params differ: seed\n")
