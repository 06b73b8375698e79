"""What tests of the domain share; the steps themselves are in `steps`."""

from pathlib import Path
from typing import Any

import pytest

from config.settings import asset_storage
from tests.tasks import steps


@pytest.fixture
def long_leases(settings: Any) -> None:
    """Nobody dies of a machine that is busy: only who is silenced for an hour."""
    settings.WORKER_LEASE = 1_800


@pytest.fixture
def worker(db: None) -> str:
    return steps.worker()


@pytest.fixture
def other_worker(db: None) -> str:
    return steps.worker()


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """Asset storage of the test's own."""
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{tmp_path}")}
    return tmp_path
