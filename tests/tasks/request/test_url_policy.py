"""Whose names are ours: an address on one of them is no input and no callback's."""

from collections.abc import Iterator

import pytest

from common import urls
from tasks.request import url_policy


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    url_policy.current.cache_clear()
    yield
    url_policy.current.cache_clear()


@pytest.mark.parametrize(
    ("url", "is_ours"),
    [
        ("https://api.ours.example/assets/1", True),
        ("https://alt.ours.example/assets/1", True),
        ("http://ALT.ours.example:8443/cb", True),
        ("https://other.example/alt.ours.example", False),
        ("http://127.0.0.1:8900/receiver", False),
    ],
)
def test_each_name_that_the_service_answers_to_is_its_own(settings, url: str, is_ours: bool) -> None:
    settings.PUBLIC_BASE_URL = "https://api.ours.example"
    settings.ALLOWED_HOSTS = ["api.ours.example", "alt.ours.example", ".wild.example", "127.0.0.1", "localhost", "*"]
    assert urls.is_own(url, url_policy.current()) is is_ours
