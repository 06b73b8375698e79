"""`verify_callback`: is this callback genuine, and if not, why."""

import io
import json
import os
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command

from callbacks import signing
from desk.management.commands import verify_callback
from tools.children import PATIENCE
from tools.stack import MANAGE

KEY = "dr-task-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
DELIVERY = "task_01k5.1"


@pytest.fixture(autouse=True)
def key_in_environment(monkeypatch):
    monkeypatch.setenv("THE_KEY", KEY)


@pytest.fixture
def now(monkeypatch) -> int:
    """The second at which the command runs, however long that takes."""
    moment = int(time.time())
    monkeypatch.setattr(verify_callback, "time", SimpleNamespace(time=lambda: moment))
    return moment


@pytest.fixture
def callback(tmp_path, now):
    """Writes a body and returns the arguments that its headers give."""

    def make(*, age: int = 0, family: str = "X-SERVICE-Signature", key: str = KEY, **payload: object) -> list[str]:
        timestamp = now - age
        body = json.dumps({"id": DELIVERY, "created_at": timestamp, **payload}).encode()
        (tmp_path / "body.json").write_bytes(body)
        headers = signing.headers(key, delivery_id=DELIVERY, timestamp=timestamp, body=body)
        named = [f"--delivery={DELIVERY}", f"--timestamp={timestamp}", f"--signature={headers[family]}"]
        return [str(tmp_path / "body.json"), *named]

    return make


def verify(*arguments: str, source: str = "--key-env=THE_KEY") -> tuple[int, dict[str, object]]:
    output = io.StringIO()
    status: object = 0
    try:
        call_command("verify_callback", *arguments, source, "--json", stdout=output)
    except SystemExit as ended:
        status = ended.code
    assert isinstance(status, int)
    return status, json.loads(output.getvalue())


@pytest.mark.parametrize(("family", "age"), [("X-SERVICE-Signature", 300), ("webhook-signature", -300)])
def test_a_genuine_callback_of_either_family_is_valid(callback, family, age):
    assert verify(*callback(family=family, age=age)) == (0, {"valid": True, "problems": [], "age_seconds": age})


def test_the_key_may_come_from_a_file(callback, tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    assert verify(*callback(), source=f"--secret-file={tmp_path / 'key'}")[0] == 0


def test_another_key_is_said(callback):
    status, answer = verify(*callback(key="dr-task-another"))
    assert (status, answer["valid"]) == (1, False)
    assert "another key" in str(answer["problems"])


def test_a_line_end_that_an_editor_added_is_recognised(callback, tmp_path):
    arguments = callback()
    with (tmp_path / "body.json").open("ab") as body:
        body.write(b"\n")
    assert "without its last line end" in str(verify(*arguments)[1]["problems"])


@pytest.mark.parametrize(("age", "word"), [(301, "old"), (-301, "ahead")])
def test_a_time_outside_of_the_window_is_said(callback, age, word):
    status, answer = verify(*callback(age=age))
    assert (status, len(answer["problems"])) == (1, 1)
    assert word in str(answer["problems"])
    assert verify(*callback(age=age), "--window=1000")[0] == 0


def test_a_payload_that_contradicts_its_headers_is_said(callback):
    problems = verify(*callback(id="task_other.1", created_at=1))[1]["problems"]
    assert problems == ["the body's id is not the header's", "the body's created_at is not the header's"]


@pytest.mark.parametrize("body", [b"no json", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_said(callback, tmp_path, body):
    arguments = callback()
    (tmp_path / "body.json").write_bytes(body)
    status, answer = verify(*arguments)
    assert status == 1
    assert "the body is not JSON" in str(answer["problems"])


@pytest.mark.parametrize("argument", ["--key-env=NO_SUCH_VARIABLE", "--secret-file=/no/such/file"])
def test_a_missing_key_is_named(callback, argument):
    with pytest.raises(CommandError, match=argument.split("=")[0]):
        call_command("verify_callback", *callback(), argument)


@pytest.mark.parametrize(
    ("number", "argument"), [(0, "/no/such/body"), (1, "--delivery=\ud800"), (2, "--timestamp=now"), (2, "--window=x")]
)
def test_a_bad_argument_is_named(callback, number, argument):
    arguments = callback()
    if argument.startswith("--window"):
        arguments.append(argument)
    else:
        arguments[number] = argument
    named = argument.split("=")[0] if argument.startswith("--") else "BODYFILE"
    with pytest.raises(CommandError, match=named):
        call_command("verify_callback", *arguments, "--key-env=THE_KEY")


def test_the_body_may_come_from_standard_input(callback):
    path, *named = callback()
    command = [*MANAGE, "verify_callback", "-", *named, "--key-env", "THE_KEY"]
    answer = subprocess.run(
        command, input=Path(path).read_bytes(), capture_output=True, env=os.environ, timeout=PATIENCE
    )
    assert answer.stdout.decode().splitlines()[:2] == ["valid: true", "problems: []"]
    assert (answer.returncode, answer.stderr) == (0, b"")
