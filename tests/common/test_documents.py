"""Documents of another version: what is known is read, what does not fit is refused by name."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest

from common import documents
from common.documents import Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    kind: Literal["video", "audio"]
    seconds: float
    size: int | None = None
    path: Path | None = None
    tags: dict[str, Any] | None = None
    parts: tuple[int, ...] = ()


def test_known_fields_are_read_and_others_left_out():
    stored = {"kind": "video", "seconds": 2, "tags": {"a": 1}, "codec": "av1"}
    assert documents.read(Clip, stored) == Clip(kind="video", seconds=2, tags={"a": 1})
    assert documents.unknown(Clip, stored) == ["codec"]


def test_what_is_given_is_not_looked_for():
    assert documents.read(Clip, {"seconds": 2.5, "kind": 7}, kind="audio") == Clip(kind="audio", seconds=2.5)


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (None, "Clip: is no object"),
        ([], "Clip: is no object"),
        ({"kind": "video"}, "Clip: seconds is missing"),
        ({}, "Clip: kind, seconds is missing"),
        ({"kind": "image", "seconds": 1}, "Clip: kind is of a wrong type"),
        ({"kind": [], "seconds": "1"}, "Clip: kind, seconds is of a wrong type"),
        ({"kind": "video", "seconds": True}, "Clip: seconds is of a wrong type"),
        ({"kind": "video", "seconds": 1, "size": 1.5}, "Clip: size is of a wrong type"),
        ({"kind": "video", "seconds": 1, "size": False}, "Clip: size is of a wrong type"),
        ({"kind": "video", "seconds": 1, "path": "/etc/passwd"}, "Clip: path is of a wrong type"),
        ({"kind": "video", "seconds": 1, "tags": []}, "Clip: tags is of a wrong type"),
    ],
)
def test_what_does_not_fit_is_named_without_its_value(stored, message):
    with pytest.raises(Unreadable) as refused:
        documents.read(Clip, stored)
    assert str(refused.value) == message


def test_a_document_to_look_at_is_empty_where_it_is_something_else():
    assert [documents.shown(value) for value in ({"a": 1}, [1], None, "a")] == [{"a": 1}, {}, {}, {}]
    assert [documents.elements(value) for value in ([1], {"a": 1}, None, "a")] == [[1], [], [], []]
