"""What is parsed of an answer with pictures in it."""

import json
import mmap

import pytest

from relay.wire import long_strings

PICTURE = "iVBORw0KGgo" * 10_000
TEXT = 'He said: "no", ' * 10_000
CHINESE = "\u6ca1\u6709\u7a7a\u683c" * 20_000
DOCUMENT = {
    "data": [{"b64_json": PICTURE, "n": 1}, {"b64_json": PICTURE}],
    "text": TEXT,
    "more": CHINESE,
    "usage": {"total": 3},
}


def test_pictures_are_left_out_and_texts_are_kept() -> None:
    raw = json.dumps(DOCUMENT, ensure_ascii=False).encode()
    begun = {"b64_json": PICTURE[: long_strings.KEPT]}
    assert json.loads(long_strings.shorten(raw)) == {**DOCUMENT, "data": [{**begun, "n": 1}, begun]}


def test_a_file_is_read_where_it_lies(tmp_path) -> None:
    path = tmp_path / "answer"
    path.write_bytes(json.dumps(DOCUMENT).encode())
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert json.loads(long_strings.shorten(mapped))["usage"] == {"total": 3}


@pytest.mark.parametrize("raw", [b"", b'"', b'"' + b"x" * 100_000, b'{"a": "\\"}', b"\\", b'\\"' * 10])
def test_what_is_no_json_is_left_alone(raw) -> None:
    assert long_strings.shorten(raw) == raw


def test_escaped_quotes_end_no_string() -> None:
    document = {"a": "\\" * 3 + '"' + "x" * 100, "b": PICTURE + "\\"}
    assert json.loads(long_strings.shorten(json.dumps(document).encode()))["a"] == document["a"]
