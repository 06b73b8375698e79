"""What holds for all tests of the relay."""

from collections.abc import Iterator

import pytest

from relay import books


@pytest.fixture(autouse=True)
def no_lease_outlives_its_test() -> Iterator[None]:
    """Else its heart would beat into the databases of others."""
    yield
    books.forget()
