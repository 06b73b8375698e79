"""How much memory a body takes while it is read, and who gets it: the estimate is held against the reader itself."""

import asyncio
import io
import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from common import strict_json
from common.errors import InvalidRequest
from common.http import multipart, spool, unfolding
from common.http.front_body import UNASKED_BYTES, Body
from common.http.spool import Room, SpoolFull

SIZE = 1024 * 1024
PIECE = unfolding.PIECE_BYTES


def text(filling: str, *, begin: str = "", end: str = "") -> bytes:
    """A body whose only field is this, over and over."""
    return f'{{"a":"{begin}{filling * (SIZE // len(filling.encode()))}{end}"}}'.encode()


BODIES = {
    "letters": text("x"),
    "a wide character at the end": text("x", end="😀"),
    "a wide character at the beginning": text("x", begin="😀"),
    "nothing but wide characters": text("😀"),
    "two bytes each": text("é"),
    "three bytes each": text("漢"),
    "beyond Latin": text("x", begin="Ā"),
    "line breaks": text("ab\\n"),
    "backslashes": text("\\\\"),
    "quotes": text('\\"'),
    "escapes": text("\\u0041"),
    "a pair of surrogates at the end": text("x", end="\\ud83d\\ude00"),
    "a lone surrogate": text("x", end="\\ud83d"),
    "an end that is none": text("x", end='😀"]'),
    "no UTF-8": text("x").replace(b"x", b"\xff"),
    "blanks": b" " * SIZE + b"{}",
    "commas": b"[" + b"," * SIZE + b"]",
    "digits": b'{"a":' + b"9" * SIZE + b"}",
    "objects": json.dumps([{"a": {}}] * 20_000).encode(),
    "keys": json.dumps({f"{number}": 1.5 for number in range(90_000)}).encode(),
}


def peak_bytes(step: Callable[[bytes], object], raw: bytes) -> int:
    """The most memory that the body has taken, itself included."""
    tracemalloc.start()
    try:
        with suppress(InvalidRequest):
            step(raw)
        return len(raw) + tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("raw", BODIES.values(), ids=BODIES)
def test_reading_a_body_takes_no_more_than_was_said(raw):
    most = unfolding.most_bytes(io.BytesIO(raw))
    peak = peak_bytes(lambda raw: strict_json.digest_of(strict_json.loads(raw)), raw)
    assert peak <= most * 1.02


@pytest.mark.parametrize("filling", [b"x", b"\xf0\x9f\x98\x80", b"\xff"], ids=["letters", "wide", "binary"])
def test_reading_a_form_takes_no_more_than_was_said(filling):
    raw = b'--edge\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + filling * SIZE + b"\r\n--edge--\r\n"
    most = unfolding.most_bytes(io.BytesIO(raw))
    peak = peak_bytes(lambda raw: multipart.parse(raw, "multipart/form-data; boundary=edge")[0].text(), raw)
    assert peak <= most * 1.02


def test_an_escape_across_two_pieces_is_seen():
    raw = b"x" * (PIECE - 3) + b"\\ud83d\\ude00"
    assert unfolding.most_bytes(io.BytesIO(raw)) == unfolding.most_bytes(io.BytesIO(b"\\ud83d\\ude00" + raw[:-12]))


def test_a_document_is_as_large_as_its_parts():
    assert unfolding.size_of({}) < 100
    assert unfolding.size_of({"a": ["x" * SIZE, {"b": "😀" * SIZE}]}) == pytest.approx(5 * SIZE, rel=0.01)


@pytest.fixture
def memory(settings) -> Iterator[unfolding.Memory]:
    """Of a thousand bytes, 500 of them a payer's."""
    settings.MAX_SPOOL_BYTES = 2_000
    return unfolding.Memory()


def test_what_fits_is_held_at_once_and_what_does_not_waits(memory):
    assert [memory.take("a", 200).done(), memory.take("b", 500).done(), memory.take("c", 301).done()] == [
        True,
        True,
        False,
    ]
    assert memory.total == 700


def test_what_is_given_back_goes_to_who_waits(memory):
    memory.take("a", 400)
    waiting = memory.take("a", 200)
    memory.give_back("a", 100)
    assert waiting.done()
    assert memory.total == 500


def test_one_of_a_payer_may_be_more_than_his_part(memory):
    assert memory.take("a", 900).done()
    assert not memory.take("a", 1).done()
    assert memory.take("b", 100).done()


def test_one_that_is_alone_may_be_more_than_there_is(memory):
    assert memory.take("a", 5_000).done()
    waiting = memory.take("b", 5_000)
    assert not waiting.done()
    memory.give_back("a", 5_000)
    assert waiting.done()


def test_what_is_too_large_for_now_holds_up_nobody(memory):
    memory.take("a", 600)
    assert not memory.take("b", 600).done()
    assert memory.take("c", 100).done()


def test_payers_take_turns(memory):
    memory.take("a", 1_000)
    waiting = [memory.take("a", 1_000), memory.take("a", 1_000), memory.take("b", 1_000)]
    for _ in range(2):
        memory.give_back("a", 1_000)
    assert [promise.done() for promise in waiting] == [True, False, True]


def test_who_has_left_is_passed_over(memory):
    memory.take("a", 1_000)
    gone, waiting = memory.take("b", 1_000), memory.take("b", 300)
    assert gone.cancel()
    memory.give_back("a", 700)
    assert waiting.done()
    assert memory.total == 600


@pytest.fixture
def room(settings, monkeypatch) -> Room:
    settings.MAX_SPOOL_BYTES = 2_000
    monkeypatch.setattr(spool, "memory", unfolding.Memory())
    return Room("a")


def test_a_room_gives_back_what_it_unfolded_to(room):
    asyncio.run(room.unfold(800))
    assert spool.memory.total == 800
    room.fold(300)
    assert spool.memory.total == 300
    room.release()
    room.release()
    assert spool.memory.total == 0


def test_a_body_that_is_read_anew_counts_once(room):
    asyncio.run(room.unfold(800))
    asyncio.run(room.unfold(700))
    assert spool.memory.total == 700


def test_a_body_for_which_no_room_comes_is_told_to_come_again(room, monkeypatch):
    monkeypatch.setattr(spool, "UNFOLDING_SECONDS", 0.0)
    spool.memory.take("b", 1_000)
    with pytest.raises(SpoolFull):
        asyncio.run(room.unfold(100))
    spool.memory.give_back("b", 1_000)
    assert spool.memory.total == 0


def test_a_client_that_leaves_while_its_body_waits_takes_no_room(room):
    spool.memory.take("b", 1_000)

    async def leaves() -> None:
        waiting = asyncio.ensure_future(room.unfold(100))
        asyncio.get_running_loop().call_soon(waiting.cancel)
        await asyncio.wait([waiting])

    asyncio.run(leaves())
    spool.memory.give_back("b", 1_000)
    assert spool.memory.total == 0


def test_a_large_body_is_closed_where_there_is_no_room_for_it(room, monkeypatch, tmp_path):
    monkeypatch.setattr(spool, "UNFOLDING_SECONDS", 0.0)
    spool.memory.take("b", 1_000)
    (tmp_path / "body").write_bytes(b"x" * 100)
    file = open(tmp_path / "body", "rb")  # noqa: SIM115
    body = Body(file=file, size=UNASKED_BYTES + 1, place=room)
    with pytest.raises(SpoolFull):
        asyncio.run(body.unfold())
    assert file.closed


def test_a_small_body_asks_for_no_room(room):
    spool.memory.take("b", 1_000)
    body = Body(file=io.BytesIO(), size=UNASKED_BYTES, place=room)
    asyncio.run(body.unfold())
    assert spool.memory.total == 1_000
