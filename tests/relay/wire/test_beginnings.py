"""How an answer is known by its first bytes."""

import pytest

from relay.wire import beginnings


@pytest.mark.parametrize(
    ("begin", "media_type", "are_events"),
    [
        (b"data: x", "text/plain", True),
        (b"d", "text/plain", True),
        (b": hum", "application/json", True),
        (b"event: x", "", True),
        (b"anything", "Text/Event-Stream; charset=utf-8", True),
        (b"anything", "", True),
        (b"", "text/event-stream", True),
        (b"", "text/plain", False),
        (b"<html>", "text/html", False),
        (b"dates", "text/plain", False),
        (b'{"data:', "text/event-stream", False),
        (b"[1]", "", False),
    ],
)
def test_events_are_known_by_their_media_type_or_by_a_field_but_are_never_json(begin, media_type, are_events) -> None:
    assert beginnings.are_events(begin, media_type) is are_events


@pytest.mark.parametrize(("begin", "are_json"), [(b"{", True), (b"[1]", True), (b"data: {", False), (b"", False)])
def test_json_is_known_by_its_bracket(begin, are_json) -> None:
    assert beginnings.are_json(begin) is are_json
