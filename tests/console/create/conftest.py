"""The Task API of the key that is signed in, beside its browser."""

import pytest

from tests.tasks_api.asking import Api


@pytest.fixture
def api(client_for, key) -> Api:
    return Api(client_for(key))
