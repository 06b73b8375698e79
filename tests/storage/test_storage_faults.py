"""A storage that is broken, full or unreachable says so, and nothing is left half done."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from common.errors import StorageUnavailable
from config.settings import asset_storage
from storage import backends, blobs

FULL_DISK = """
import resource, sys
import django
django.setup()
from common.errors import StorageUnavailable
from storage import blobs
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
try:
    blobs.put((bytes(65_536) for _ in range(100)), max_bytes=10_000_000)
except StorageUnavailable:
    sys.exit(42)
"""
FLAT_MEMORY = """
import resource
import django
django.setup()
from storage import blobs
blobs.put([bytes(65_536)], max_bytes=65_536)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
blobs.delete(blobs.put((bytes(65_536) for _ in range(3_200)), max_bytes=300_000_000).key)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def run(program: str, root: Path) -> subprocess.CompletedProcess[str]:
    """A Python process whose asset storage is this folder."""
    environment = {**os.environ, "ASSET_STORAGE": f"file://{root}"}
    environment["DJANGO_SETTINGS_MODULE"] = "config.settings"
    project = Path(__file__).resolve().parents[2]
    return subprocess.run(
        [sys.executable, "-c", program], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture
def blocked(folder: Path) -> Path:
    """The storage's root is a file."""
    folder.write_bytes(b"not a folder")
    return folder


@pytest.fixture
def unreachable(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """S3 at an address where nobody listens."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    url = "s3://nobody?endpoint=http://127.0.0.1:9&region=us-east-1"
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(url)}


@pytest.fixture(params=["blocked", "unreachable"])
def broken(request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(request.param)


@pytest.mark.usefixtures("broken")
class TestBroken:
    def test_check_refuses_and_says_when_to_come_back(self) -> None:
        with pytest.raises(StorageUnavailable) as raised:
            backends.health().check()
        assert int(raised.value.headers["Retry-After"]) > 0

    def test_it_refuses_in_words_that_name_neither_path_nor_address(self) -> None:
        for use in (lambda: blobs.put([b"x"], max_bytes=1), lambda: blobs.open("results/00/00/" + "0" * 32)):
            with pytest.raises(StorageUnavailable) as raised:
                use()
            assert raised.value.message == StorageUnavailable.default_message


def test_check_believes_a_good_answer_for_some_seconds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "TRUST_SECONDS", 3_600)
    backends.health().check()
    folder.rename(folder.with_name("away"))
    folder.write_bytes(b"not a folder")
    backends.health().check()
    backends.health().until = 0.0
    with pytest.raises(StorageUnavailable):
        backends.health().check()


def test_check_notices_a_storage_that_has_come_back(blocked: Path) -> None:
    with pytest.raises(StorageUnavailable):
        backends.health().check()
    blocked.unlink()
    backends.health().until = 0.0
    backends.health().check()


def test_check_leaves_nothing_behind(folder: Path) -> None:
    backends.health().check()
    assert [path for path in folder.rglob("*") if path.is_file()] == []


def test_a_full_disk_leaves_no_file(tmp_path: Path) -> None:
    done = run(FULL_DISK, tmp_path)
    assert done.returncode == 42, done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_storing_200_megabytes_takes_no_memory(tmp_path: Path) -> None:
    done = run(FLAT_MEMORY, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 20_000  # KiB
