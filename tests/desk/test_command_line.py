"""The operators' commands as real processes: exit status, one JSON object on stdout, one line on stderr."""

import json
import os

import pytest


def test_json_is_all_that_stdout_holds(stack):
    made = stack.manage("create_account", "acme", "--credit", "5", "--json")
    assert made.stderr == ""
    assert json.loads(made.stdout)["balance"] == 5
    key = json.loads(stack.manage("create_key", "acme", "--json").stdout)
    assert key["key"].startswith("dr-task-")
    assert json.loads(stack.manage("rotate_key", str(key["id"]), "--json").stdout)["key"] != key["key"]


def test_without_json_the_answer_is_lines(stack):
    lines = stack.manage("pause", "--message", "Back soon.").stdout.splitlines()
    assert lines == ["paused: true", "message: Back soon.", "retry_after: 60", "api_disabled: false"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["create_account", "acme", "--credit", "NaN"], "--credit"),
        (["create_account", "acme", "--credit"], "--credit"),
        (["create_account"], "NAME"),
        (["create_key", "nobody", "--json"], "ACCOUNT"),
        (["credit_account", "acme", "1"], "--reason"),
        (["disable_key", "7"], "KEY_ID"),
        (["resume", "--now"], "--now"),
        (["run_worker", "--now"], "--now"),
        (["run_sandbox", "--port", "http"], "--port"),
        (["run_sandbox", "--port", "65536"], "--port"),
    ],
)
def test_a_refusal_is_one_line_that_names_the_argument(stack, arguments, named):
    answer = stack.manage(*arguments, check=False)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert named in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_an_undecodable_name_is_refused(stack):
    answer = stack.manage("create_account", os.fsdecode(b"\xff"), check=False)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("CommandError: NAME: ")


@pytest.mark.parametrize("arguments", [["create_account", "acme"], ["check_ledger"], ["dump_catalog"]])
def test_an_unmigrated_database_is_one_line_too(stack, tmp_path, arguments):
    environment = {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty'}"}
    answer = stack.manage(*arguments, check=False, **environment)
    assert answer.returncode == 1
    assert answer.stderr.startswith("CommandError: database: ")
    assert len(answer.stderr.splitlines()) == 1


def test_traceback_shows_the_traceback(stack):
    answer = stack.manage("disable_key", "7", "--traceback", check=False)
    assert answer.returncode != 0
    assert "Traceback" in answer.stderr
