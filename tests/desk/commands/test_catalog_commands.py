"""load_catalog and dump_catalog: what they print and how they fail."""

import json
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from adapters import registry
from adapters.relay.adapter import OpenAIRelay
from catalog.models import Channel, MediaModel, Plan
from tests.catalog.conftest import FILE
from tests.catalog.stubs import StubFilms, StubImages
from tests.rows import IssuedKey
from tests.tasks import steps

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _stub_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    known = {"stub_images": StubImages(), "stub_films": StubFilms(), "openai_relay": OpenAIRelay()}
    monkeypatch.setattr(registry, "ADAPTERS", known)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "catalog.yaml"
    made.write_text(FILE)
    return made


def run(*arguments: object) -> str:
    output = StringIO()
    call_command(*map(str, arguments), stdout=output)
    return output.getvalue()


def test_load_says_what_it_created_changed_and_left(path: Path) -> None:
    assert "created: 10\n  plan standard\n" in run("load_catalog", path)
    path.write_text(FILE.replace("max_running: 20", "max_running: 30"))
    again = run("load_catalog", path)
    assert "changed: 1\n  channel studio: max_running\n" in again
    assert "unchanged: 9\n" in again


def test_load_answers_one_json_object(path: Path) -> None:
    answer = json.loads(run("load_catalog", path, "--json"))
    assert answer["dry_run"] is False
    assert len(answer["created"]) == 10
    assert answer["warnings"] == []


def test_a_dry_run_writes_nothing(path: Path) -> None:
    assert "nothing is written" in run("load_catalog", path, "--dry-run")
    assert not Plan.objects.exists()


def test_prune_removes_what_is_not_named(path: Path, tmp_path: Path) -> None:
    run("load_catalog", path)
    path.write_text("version: 1")
    assert "removed: 10\n" in run("load_catalog", path, "--prune")
    assert not MediaModel.objects.exists()


def test_all_problems_are_told(path: Path) -> None:
    path.write_text(FILE.replace("max_running: 20", "max_running: 0").replace("weight: 1", "weight: -1"))
    with pytest.raises(CommandError) as caught:
        run("load_catalog", path)
    told = str(caught.value).splitlines()
    assert [line.split(":")[0] for line in told] == ["channels[0].max_running", "plans[0].routes[0].weight"]
    assert caught.value.returncode == 1


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "catalog.yaml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CommandError, match="FILE: "):
        run("load_catalog", path)


def test_dump_is_the_inverse_of_load(path: Path, tmp_path: Path) -> None:
    run("load_catalog", path)
    dumped = tmp_path / "dump.yaml"
    run("dump_catalog", dumped)
    assert "unchanged: 10\n" in run("load_catalog", dumped, "--prune")
    assert dumped.read_text() == run("dump_catalog")


@pytest.mark.parametrize("was_there", [False, True])
def test_a_file_with_credentials_is_the_owners_alone(path: Path, tmp_path: Path, was_there: bool) -> None:
    run("load_catalog", path)
    dumped = tmp_path / "dump.yaml"
    if was_there:
        dumped.touch(0o644)
    run("dump_catalog", dumped, "--with-credentials")
    assert stat.S_IMODE(dumped.stat().st_mode) == 0o600
    assert "sandbox-key-of-the-studio" in dumped.read_text()


def test_dump_answers_one_json_object(path: Path) -> None:
    run("load_catalog", path)
    assert "aurora-image" in json.loads(run("dump_catalog", "--json"))["catalog"]


def test_a_folder_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="FILE: "):
        run("dump_catalog", tmp_path / "nowhere" / "dump.yaml")


def test_prune_keeps_the_channel_of_a_running_task(path: Path, key: IssuedKey) -> None:
    run("load_catalog", path)
    channel = Channel.objects.get(name="studio")
    steps.start(key, steps.worker(), {"model": "aurora-image", "params": {"prompt": "a fox"}})
    path.write_text("version: 1")
    assert "channel studio has running tasks" in run("load_catalog", path, "--prune")
    channel.refresh_from_db()
    assert not channel.enabled
    assert not Channel.objects.filter(name="cinema").exists()
