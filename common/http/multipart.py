"""Strict multipart/form-data (RFC 7578): parses a whole body or refuses it with the cause and the part.

Django's own parser passes over what it cannot read: parts without a name, an end that never came, text that is not
UTF-8. Here each of these is refused, so that nothing that a client sent is dropped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from common import strict_json
from common.errors import InvalidRequest

MEDIA_TYPE = "multipart/form-data"
MOST_PARTS = 200
LONGEST_BOUNDARY = 70
# In each of them ASCII is what it is in UTF-8; programs of Java say ISO-8859-1 of every text.
ASCII_IN = re.compile(r"us-ascii|ascii|iso[-_]?8859-\d{1,2}|latin-?\d|windows-125\d|cp125\d|koi8-[ru]", re.IGNORECASE)
UTF_8 = re.compile(r"utf-?8", re.IGNORECASE)
PLAIN_ENCODINGS = ("", "7bit", "8bit", "binary")
# The library passes over words that it cannot read, and takes the last of two.
WORD = re.compile(r';\s*([a-z]+\*?)\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;"]+)', re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPart:
    """One part; `is_file`: it came with a file's name, whatever that is."""

    name: str
    is_file: bool
    content: bytes = field(repr=False)

    def text(self, *, is_kept: bool = True) -> str:
        """Its content as a text field, which no column takes with a NUL in it. Raises InvalidRequest."""
        try:
            text = self.content.decode()
        except UnicodeDecodeError as error:
            _refuse(f"{strict_json.field('', self.name)} is not valid UTF-8 (byte {error.start})", self.name)
        if is_kept and "\0" in text:
            _refuse(f"{strict_json.field('', self.name)} holds a NUL character", self.name)
        return text


def is_form(content_type: str) -> bool:
    """Whether the Content-Type names a form, well or badly."""
    return content_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def parse(raw: bytes, content_type: str) -> list[FormPart]:
    """The parts in order. Raises InvalidRequest naming the part, by its name or its number from 1."""
    boundary = _boundary(content_type)
    if not raw.lstrip().startswith(b"--" + boundary):
        _refuse("The body does not begin with its boundary")
    parts: list[FormPart] = []
    try:
        for segment, content in _segments(raw, boundary):
            parts.append(_part(segment, content, len(parts) + 1))
    except MultipartError as error:
        _refuse(f"Part {len(parts) + 1} of the body is not valid: {error}")
    if _behind(raw, b"--" + boundary + b"--").strip():
        _refuse("The body goes on behind its last boundary")
    return parts


def _behind(raw: bytes, last: bytes) -> bytes:
    """What stands behind the first line that begins like this."""
    begin = 0 if raw.startswith(last) else raw.find(b"\r\n" + last) + 2
    return raw[begin + len(last) :] if begin != 1 else b""


def _boundary(content_type: str) -> bytes:
    boundary = parse_options_header(content_type)[1].get("boundary", "")
    is_valid = boundary.isascii() and boundary.isprintable() and 0 < len(boundary) <= LONGEST_BOUNDARY
    if not is_valid or content_type.lower().count("boundary=") > 1:
        _refuse("Content-Type: the boundary is missing or not valid")
    return bytes(boundary, "ascii")


def _segments(raw: bytes, boundary: bytes) -> Iterator[tuple[MultipartSegment, bytes]]:
    """Each with its content. Its headers are read as bytes, so that a file may have any name. Raises MultipartError
    where the form is not whole, after those before."""
    with PushMultipartParser(boundary, max_segment_count=MOST_PARTS, header_charset="latin1", strict=True) as parser:
        segment, content = None, b""
        for event in parser.parse(raw):
            if isinstance(event, MultipartSegment):
                segment, content = event, b""
            elif event:
                content = event
            elif segment:
                yield segment, content


def _part(segment: MultipartSegment, content: bytes, number: int) -> FormPart:
    named, names = segment["Content-Disposition"], [name for name, _ in segment.headerlist]
    words = [word.lower() for word in WORD.findall(named)]
    is_read = WORD.sub("", named).strip(" \t;").lower() == "form-data"
    if not segment.name or not is_read or "name*" in words or len({*names, *words}) < len(names + words):
        _refuse(f"Part {number} of the body is not valid: it needs one Content-Disposition with one name")
    is_file = "filename" in words or "filename*" in words
    part = FormPart(name=_as_utf8(segment.name, number), is_file=is_file, content=content)
    shown = strict_json.field("", part.name)
    if segment.header("Content-Transfer-Encoding", "").lower() not in PLAIN_ENCODINGS:
        _refuse(f"{shown}: no Content-Transfer-Encoding is accepted", part.name)
    if not part.is_file and not _is_utf8(segment.charset, content):
        _refuse(f"{shown}: the charset must be utf-8", part.name)
    return part


def _as_utf8(name: str, number: int) -> str:
    try:
        return name.encode("latin-1").decode()
    except UnicodeDecodeError:
        _refuse(f"Part {number} of the body is not valid: its name is not valid UTF-8")


def _is_utf8(charset: str | None, content: bytes) -> bool:
    """Whether a text of this charset reads the same in UTF-8."""
    return not charset or bool(UTF_8.fullmatch(charset)) or (content.isascii() and bool(ASCII_IN.fullmatch(charset)))


def _refuse(problem: str, param: str | None = None) -> NoReturn:
    raise InvalidRequest(f"{problem}.", param=param)
