"""The programs on the first page of docs/interface.md, run as they stand, and its film with every value."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from tools.children import PATIENCE
from tools.stack import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.once]

PAGE = (ROOT / "docs" / "interface.md").read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```\w+ (first\.\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
REFUSAL = re.search(r'^ +\{"error": \{"type": "(\w+)", "message": "(.+)"\}\}$', PAGE, re.MULTILINE)
FAILURE = re.search(r'^ +\{"status": "failed", .*"type": "(\w+)"', PAGE, re.MULTILINE)
FILM = re.search(r"^A film with every value:\n\n```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SECTIONS = dict(re.findall(r"^##+ ([^\n]+)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
FIELDS = re.compile(r"^\| `([a-z_]+)` \|", re.MULTILINE)
PICTURES = (b"\x89PNG", b"\xff\xd8\xff", b"RIFF")


def using(file: str, program: str, needs: str):
    missing = pytest.mark.skipif(not shutil.which(needs), reason=f"{file} needs {needs}, which is not installed")
    return pytest.param(program, file, marks=missing, id=file)


LANGUAGES = pytest.mark.parametrize(
    ("program", "file"),
    [
        using("first.sh", "sh", "curl"),
        using("first.py", sys.executable, sys.executable),
        using("first.mjs", "node", "node"),
    ],
)


@pytest.fixture
def run(service, tmp_path):
    def run(program: str, file: str, *change: str) -> tuple[int, str]:
        """The exit code and the output of the page's program, in which one text may stand for another."""
        (tmp_path / file).write_text(PROGRAMS[file].replace(*change, 1) if change else PROGRAMS[file])
        environment = {"PATH": os.environ["PATH"], "BASE_URL": service.stack.base_url, "TASK_API_KEY": service.key}
        options = {"cwd": tmp_path, "env": environment, "capture_output": True, "text": True, "timeout": PATIENCE}
        ended = subprocess.run([program, file], **options, check=False)
        return ended.returncode, ended.stdout + ended.stderr

    return run


@LANGUAGES
def test_a_program_of_the_first_page_saves_a_picture_and_a_film(run, tmp_path, program, file):
    code, output = run(program, file)
    assert code == 0, output
    picture, film = ((tmp_path / name).read_bytes() for name in output.split())
    assert picture.startswith(PICTURES)
    assert film[4:8] == b"ftyp"


@LANGUAGES
@pytest.mark.parametrize(
    ("change", "shown"),
    [(("duration", "seconds"), REFUSAL), (("at dawn", "[moderated]"), FAILURE)],
    ids=["refused", "failed"],
)
def test_a_program_of_the_first_page_says_what_failed_in_the_words_of_the_page(run, program, file, change, shown):
    code, output = run(program, file, *change)
    assert code != 0
    assert all(word in output for word in shown.groups())


def test_the_film_with_every_value_is_one_that_can_be_made(service):
    quote = service.client.post("/v1/tasks/quote", json=json.loads(FILM[1]))
    assert quote.status_code == 200, quote.text
    assert quote.json()["eligible_routes"] == 1


def test_the_film_with_every_value_has_every_field_of_the_tables():
    film = json.loads(FILM[1])
    params, (first, last) = film["params"], film["params"]["inputs"]
    assert set(FIELDS.findall(SECTIONS["Submit"])) == set(film)
    assert set(FIELDS.findall(SECTIONS["Video params"])) == {*params, *first}
    assert {first["role"], last["role"]} == {"first_frame", "last_frame"}
