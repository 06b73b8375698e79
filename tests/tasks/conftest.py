"""What tests of the domain share; the steps themselves are in `steps`."""

import pytest

from tests.tasks import steps


@pytest.fixture
def worker(db: None) -> str:
    return steps.worker()


@pytest.fixture
def other_worker(db: None) -> str:
    return steps.worker()
