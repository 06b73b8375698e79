"""The operators' commands as real processes: exit status, one JSON object on stdout, one line on stderr."""

import io
import json
import os

import pytest
from django.core.management import CommandError, call_command


def test_json_is_all_that_stdout_holds(stack):
    made = stack.manage("create_account", "acme", "--credit", "5", "--json")
    assert made.stderr == ""
    assert json.loads(made.stdout)["balance"] == 5


def test_without_json_the_answer_is_lines(db):
    output = io.StringIO()
    call_command("pause", "--message", "Back soon.", stdout=output)
    lines = ["paused: true", "message: Back soon.", "retry_after: 60", "api_disabled: false"]
    assert output.getvalue().splitlines() == lines


REFUSED = [
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
]


def test_every_refusal_is_one_line_that_names_the_argument(db):
    for arguments, named in REFUSED:
        with pytest.raises(CommandError, match=named) as caught:
            call_command(*arguments)
        assert caught.value.returncode == 1, arguments
        assert len(str(caught.value).splitlines()) == 1, arguments


@pytest.mark.parametrize(
    ("arguments", "named"),
    [(["disable_key", "7"], "KEY_ID"), (["run_worker", "--now"], "--now")],
    ids=["said", "parsed"],
)
def test_a_refusal_is_one_line_on_stderr_and_exit_status_1(stack, arguments, named):
    answer = stack.manage(*arguments, check=False)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("CommandError: ")
    assert named in answer.stderr
    assert len(answer.stderr.splitlines()) == 1


def test_an_undecodable_name_is_refused(stack):
    answer = stack.manage("create_account", os.fsdecode(b"\xff"), check=False)
    assert (answer.returncode, answer.stdout) == (1, "")
    assert answer.stderr.startswith("CommandError: NAME: ")


def test_an_unmigrated_database_is_one_line_too(stack, tmp_path):
    environment = {"DATABASE_URL": f"sqlite:///{tmp_path / 'empty'}"}
    answer = stack.manage("create_account", "acme", check=False, **environment)
    assert answer.returncode == 1
    assert answer.stderr.startswith("CommandError: database: ")
    assert len(answer.stderr.splitlines()) == 1


def test_traceback_shows_the_traceback(stack):
    answer = stack.manage("disable_key", "7", "--traceback", check=False)
    assert answer.returncode != 0
    assert "Traceback" in answer.stderr
