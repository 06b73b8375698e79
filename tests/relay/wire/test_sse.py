"""Frames are the same wherever the chunks break, and however the lines end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.wire import sse
from relay.wire.sse import Frames, FrameTooLarge

OF_EVERY_DIALECT = {
    "chat": ['data: {"choices":[{"delta":{"content":"h\\n\\né"}}]}', "data: [DONE]"],
    "responses": ['event: response.created\ndata: {"type":"response.created"}', 'data: {"type":"response.completed"}'],
    "messages": ['event: ping\ndata: {"type": "ping"}', 'event: message_stop\ndata: {"type":"message_stop"}'],
    "generate_content": ['data: {"candidates": [{"content": {"parts": [{"text": "日本"}]}}]}', 'data: {"a":\ndata: 1}'],
    "images": ['event: image_generation.completed\ndata: {"b64_json":"AAAA"}'],
    "signs of life": ["", ": comment", "data: x", "", ""],
}


def written(events: list[str], end: str) -> list[bytes]:
    """Each event with the blank line that ends it; a sign of life without a word is one line's end."""
    return [(event.replace("\n", end) + (end * 2 if event else end)).encode() for event in events]


def frames_of(chunks: list[bytes]) -> list[bytes]:
    frames, found = Frames(), []
    for chunk in chunks:
        found += frames.feed(chunk)
    return found


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"], ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("dialect", OF_EVERY_DIALECT)
def test_frames_are_the_same_wherever_the_chunks_break(dialect, end):
    expected = written(OF_EVERY_DIALECT[dialect], end)
    whole = b"".join(expected)
    # What follows shows where the last frame ends: a CR alone may still be half of a line's end.
    after = b"data"
    for cut in range(len(whole) + 1):
        assert frames_of([whole[:cut], whole[cut:], after]) == expected, cut
    assert frames_of([whole[i : i + 1] for i in range(len(whole))] + [after]) == expected


@given(
    st.lists(st.sampled_from([b"data: a", b": c", b"\r\n", b"\n", b"\r", b"x", b"\xef\xbb\xbf"]), max_size=20),
    st.data(),
)
def test_any_bytes_are_cut_alike_and_none_is_lost(pieces, draw):
    whole = b"".join(pieces)
    cuts = sorted(draw.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    chunks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert frames_of(chunks) == frames_of([whole])
    assert whole.removeprefix(b"\xef\xbb\xbf").startswith(b"".join(frames_of(chunks)))


@pytest.mark.parametrize("chunks", [[b"\xef\xbb\xbfdata: 1\n\n"], [b"\xef", b"\xbb", b"\xbfdata: 1\n\n"]])
def test_a_byte_order_mark_before_the_first_frame_is_taken_away(chunks):
    assert frames_of(chunks) == [b"data: 1\n\n"]


def test_the_last_event_counts_without_its_blank_line():
    for left in (b'data: {"a": 1}', b'data: {"a": 1}\r\n', b"data: [DONE]\n"):
        frames = Frames()
        assert frames.feed(left) == []
        assert frames.rest() == left.rstrip() + b"\n\n"
        assert frames.rest() == b""


def test_a_piece_of_an_event_is_no_frame():
    for left in (b'data: {"a": ', b"data: [DO", b"da", b"event: x\n", b": comment", b"\r", b"data: " + b"[" * 10_000):
        frames = Frames()
        frames.feed(left)
        assert frames.rest() == b"", left


def test_a_frame_that_never_ends_is_too_large():
    frames, chunk = Frames(), b"a" * 2**20 + b" "
    for _ in range(31):
        frames.feed(chunk)
    with pytest.raises(FrameTooLarge):
        frames.feed(chunk)


def test_data_is_that_of_all_its_lines():
    assert sse.data(b"event: x\ndata: a\r\ndata:b\rdata:  c\n\n") == b"a\nb\n c"
    assert sse.data(b": data: x\n\n") is None
    assert sse.data(b"event: ping\n\n") is None
