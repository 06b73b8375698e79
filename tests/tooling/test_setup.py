"""What `make` installs for each target, and what it says on machines that cannot."""

import os
import re
import shutil
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


MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.search(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)[1].split()
LOCKS = {"requirements.lock", "requirements-dev.lock"}


@pytest.mark.parametrize("target", TARGETS)
def test_only_demo_and_run_do_without_the_packages_of_development(tmp_path, target):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for lock in LOCKS:
        (tmp_path / lock).touch()
    told = subprocess.run(["make", "-n", target], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    installs = set(re.findall(r"tools/setup\.sh \S+ (\S+)", told))
    assert installs == ({"requirements.lock"} if target in ("demo", "run") else LOCKS)


@pytest.fixture
def fake_venv(tmp_path):
    """An environment whose Python writes down what it is called with."""
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "pip $@" >>{tmp_path}/calls\n')
    python.chmod(0o755)
    return python.parent.parent


@pytest.mark.parametrize(("uv", "used"), [("exit 0", ["uv"]), ("exit 2", ["uv", "pip"]), (None, ["pip"])])
def test_uv_installs_where_it_is_there_and_pip_where_uv_cannot(tmp_path, fake_venv, uv, used):
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "dirname", "grep", "touch"):
        (tools / name).symlink_to(shutil.which(name))
    if uv:
        (tools / "uv").write_text(f'#!/bin/sh\necho "uv $@" >>{tmp_path}/calls\n{uv}\n')
        (tools / "uv").chmod(0o755)
    stamp = tmp_path / "stamp"
    subprocess.run(
        ["sh", ROOT / "tools/setup.sh", sys.executable, "requirements.lock", stamp],
        env={"PATH": str(tools), "VENV": str(fake_venv)},
        capture_output=True,
        check=True,
    )
    calls = [line for line in (tmp_path / "calls").read_text().splitlines() if " install " in line]
    assert [call.split()[0] for call in calls] == used
    assert all(call.endswith("--require-hashes -r requirements.lock") for call in calls)
    assert stamp.exists()


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
