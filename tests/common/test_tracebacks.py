"""An exception that is let go of holds nothing that was at work when it was raised."""

import gc
import weakref
from collections.abc import Iterator

import pytest

from common import tracebacks


class Thing:
    """Of which is known when it is gone."""


@pytest.fixture
def no_search() -> Iterator[None]:
    """Cycles stay where they are."""
    gc.disable()
    yield
    gc.enable()


def raising(holder: "list[weakref.ref[Thing]]") -> None:
    thing = Thing()
    holder.append(weakref.ref(thing))
    raise KeyError("inner")


def raised(holder: "list[weakref.ref[Thing]]") -> Exception:
    """An exception in a ring with its own frame, that came from another one."""
    try:
        try:
            raising(holder)
        except KeyError:
            raising(holder)
    except KeyError as error:
        kept = error
    return kept


def test_frames_and_causes_are_gone_at_once(no_search):
    holder: list[weakref.ref[Thing]] = []
    error = raised(holder)
    assert all(thing() for thing in holder)
    tracebacks.let_go(error)
    assert [thing() for thing in holder] == [None, None]
    assert error.args == ("inner",)


def test_exceptions_that_lead_to_each_other_come_to_an_end():
    first, second = KeyError(), KeyError()
    first.__context__, second.__context__ = second, first
    tracebacks.let_go(first)
    assert first.__context__ is second.__context__ is None
