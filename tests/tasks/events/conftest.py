"""What tests of events share."""

import pytest
from django.db import connection

from tests.tasks import steps
from tests.tasks_api.conftest import make_task

__all__ = ["make_task"]


@pytest.fixture
def concurrent(db: None) -> None:
    """For what only happens where transactions are open at the same time."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite's writers take turns")


@pytest.fixture
def worker(transactional_db: None) -> str:
    return steps.worker()
