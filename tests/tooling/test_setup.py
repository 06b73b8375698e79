"""`make setup` on machines that cannot: it says what to do."""

import os
import subprocess
import sys

import pytest

from tools import write_env
from tools.children import PATIENCE
from tools.stack import ROOT

UNABLE = {
    '[ "$1" = --version ] && echo "Python 3.9.2"; [ "$1" = --version ]': (
        "Python 3.9.2, but Darkroom needs Python 3.11 or newer"
    ),
    'case "$2" in *ensurepip*) exit 1;; esac': "apt install python3-venv",
    None: "There is no no-such-python here",
}


@pytest.mark.parametrize("script", UNABLE, ids=["too old", "without ensurepip", "missing"])
def test_a_python_that_cannot_is_named_with_what_to_do(tmp_path, script):
    python = tmp_path / "python3"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(0o755)
    answer = subprocess.run(
        ["sh", ROOT / "tools/setup.sh", python if script else "no-such-python"],
        env={"PATH": os.environ["PATH"], "VENV": str(tmp_path / "venv")},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 1
    assert UNABLE[script] in answer.stderr
    assert not (tmp_path / "venv").exists()


@pytest.fixture
def env_file(tmp_path):
    assert write_env.write(tmp_path / ".env")
    return tmp_path / ".env"


def test_the_written_secrets_start_the_service(env_file):
    values = dict(line.split("=", 1) for line in env_file.read_text().splitlines() if not line.startswith("#"))
    answer = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env={**values, "DATABASE_URL": "sqlite://:memory:", "PATH": os.environ["PATH"]},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr


def test_an_existing_env_file_is_never_touched(env_file):
    before = env_file.read_text()
    assert not write_env.write(env_file)
    assert env_file.read_text() == before


def test_only_the_owner_may_read_the_secrets_and_no_two_are_the_same(env_file):
    assert env_file.stat().st_mode & 0o777 == 0o600
    assert write_env.contents() != env_file.read_text()
