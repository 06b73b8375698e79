import logging

import pytest

from common import swallowed


def test_an_error_that_reaches_nobody_is_logged_and_counted_once(caplog: pytest.LogCaptureFixture) -> None:
    swallowed.taken()
    with caplog.at_level(logging.ERROR):
        try:
            raise ValueError("a misspelt column")
        except ValueError:
            swallowed.note("tests.fast_path")
    assert "tests.fast_path" in caplog.text
    assert "a misspelt column" in caplog.text
    assert swallowed.taken() == {"tests.fast_path": 1}
    assert swallowed.taken() == {}
