"""Files that come as text: both alphabets of base64, and Data URLs in every spelling, however they are cut."""

import base64
from collections.abc import Callable
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.kit.written_files import Decoder, content_of, is_data_url

Spelling = Callable[[bytes], str]


def plain(content: bytes) -> str:
    return base64.b64encode(content).decode()


def safe(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).decode()


def mixed(content: bytes) -> str:
    """The first half in one alphabet, the second in the other."""
    half = len(content) // 6 * 3
    return safe(content[:half]) + plain(content[half:])


SPELLINGS: dict[str, Spelling] = {
    "base64": plain,
    "url-safe": safe,
    "mixed": mixed,
    "without padding": lambda content: safe(content).rstrip("="),
    "lines": lambda content: "\r\n".join(plain(content)[i : i + 7] for i in range(0, len(plain(content)), 7)) + "\n",
    "data url": lambda content: f"data:image/png;base64,{plain(content)}",
    "capitals": lambda content: f"DATA:IMAGE/PNG;BASE64,{plain(content)}",
    "parameters": lambda content: f'data:image/png;charset=utf-8;name="a b";base64,{safe(content)}',
    "without type": lambda content: f"data:;base64,{safe(content).rstrip('=')}",
    "blanks around": lambda content: f"\n data:image/png; base64, {plain(content)} \n",
    "escapes in base64": lambda content: f"data:image/png;base64,{quote_from_bytes(plain(content).encode(), safe='')}",
    "percent": lambda content: f"data:image/png,{quote_from_bytes(content, safe='')}",
}


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
@given(content=st.binary(max_size=60), size=st.integers(1, 50))
def test_a_file_is_read_in_every_spelling_however_it_is_cut(spelling: Spelling, content: bytes, size: int) -> None:
    text = spelling(content).encode()
    assert content_of(text.decode()) == content
    head = text.find(b",") + 1
    pieces = [text[: head + size], *(text[start : start + size] for start in range(head + size, len(text), size))]
    decoder = Decoder()
    assert b"".join(map(decoder.decode, pieces)) + decoder.end() == content


def test_what_is_neither_is_no_file() -> None:
    for text in ("a", "***", "a b c d!", "AAAA=AAAA", "AA==BB", "https://x.example.com/a", "data:;base64,***", "é"):
        with pytest.raises(ValueError):
            content_of(text)
    for text in ("data:;base64,AAA%2", "data:;base64,AAA%", "data:;base64,AAAAA"):
        with pytest.raises(ValueError):
            content_of(text)


def test_an_escape_that_is_none_stands_for_itself() -> None:
    for text, content in (("data:,50%", b"50%"), ("data:,%zz", b"%zz"), ("data:,a%2", b"a%2")):
        assert content_of(text) == content


def test_a_data_url_is_known_by_its_head() -> None:
    for value in ("data:image/png;base64,AA", " \nDATA:,x", "data:;base64,x" + "A" * 10_000_000):
        assert is_data_url(value)
    for value in (
        None,
        1,
        ["data:,x"],
        "",
        "data:",
        "data:,",
        "data:image/png;base64,",
        "xdata:,x",
        "https://x/,data:,",
    ):
        assert not is_data_url(value), value
