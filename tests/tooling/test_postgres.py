"""The temporary server that the tests start for themselves."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests import postgres
from tools.children import PATIENCE, wait_until

SHOW = "import os, sys; print(os.environ['DATABASE_URL'], flush=True); sys.stdin.read(); sys.exit(7)"
ASK = "import os, psycopg; psycopg.connect(os.environ['DATABASE_URL']).execute('SELECT 7')"


def run(code: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.postgres", sys.executable, "-c", code],
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_the_command_has_a_server_that_is_gone_with_its_folder_after_a_signal(number):
    with run(f"{ASK}; {SHOW}") as wrapper:
        folder = Path(wrapper.stdout.readline().strip().partition("host=")[2])
        assert folder.is_dir()
        wrapper.send_signal(number)
        wrapper.stdin.close()
        wrapper.wait(PATIENCE)
    wait_until(lambda: not folder.exists(), what="the folder to go")


def test_a_server_that_is_given_is_used_as_it_is_and_the_exit_code_comes_back():
    with run(SHOW, TEST_DATABASE_URL="postgresql://somebody@db.example/tests") as wrapper:
        wrapper.stdin.close()
        assert wrapper.stdout.readline().strip() == "postgresql://somebody@db.example/tests"
        assert wrapper.wait(PATIENCE) == 7


def test_the_wheel_serves_where_the_system_has_no_server(monkeypatch):
    monkeypatch.setattr(postgres, "system_folders", lambda: iter(()))
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    with postgres.server() as url, psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_without_any_server_the_message_says_what_to_do(monkeypatch):
    monkeypatch.setattr(postgres, "system_folders", lambda: iter(()))
    monkeypatch.setattr(postgres, "wheel_folder", lambda: None)
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)
    with pytest.raises(postgres.NoPostgres, match="TEST_DATABASE_URL"), postgres.server():
        pass
