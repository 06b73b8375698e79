import logging
import re
import tomllib

import pytest

from common import swallowed
from tools.stack import ROOT


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


def test_counts_that_could_not_be_stored_are_kept_with_those_that_came_meanwhile() -> None:
    swallowed.taken()
    for _ in range(2):
        swallowed.put_back({"tests.one": 2, "tests.other": 1})
    assert swallowed.taken() == {"tests.one": 4, "tests.other": 2}


def test_every_place_that_swallows_is_listed_and_no_other() -> None:
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
    texts = [path.read_text() for package in packages for path in (ROOT / package).rglob("*.py")]
    noted = {place for text in texts for place in re.findall(r"swallowed\.note\(\s*([^)]*?)\s*\)", text)}
    assert noted == {f'"{place}"' for place in swallowed.PLACES}
    assert list(swallowed.PLACES) == sorted(swallowed.PLACES)
    assert all(len(place) <= swallowed.LONGEST for place in swallowed.PLACES)
