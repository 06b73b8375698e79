"""Strict multipart/form-data (RFC 7578): parses a whole body or refuses it with the cause and the part.

Django's own parser passes over what it cannot read: parts without a name, an end that never came, text that is not
UTF-8. Here each of these is refused, so that nothing that a client sent is dropped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from common import strict_json
from common.errors import InvalidRequest

MEDIA_TYPE = "multipart/form-data"
MOST_PARTS = 200
HEAD_BYTES = 8 * 1024
CHARSETS = ("", "utf-8", "utf8", "us-ascii")
PLAIN_ENCODINGS = ("", "7bit", "8bit", "binary")

BOUNDARY = re.compile(r"[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]")
PARAMETER = re.compile(r";[ \t]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:\"((?:[^\"\\]|\\.)*)\"|([^\s;\"]+))[ \t]*")
ESCAPED = re.compile(r"\\(.)")
PADDING = b" \t"

HeaderWord = tuple[str, dict[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FormPart:
    """One part; `is_file`: it came with a file's name, whatever that is."""

    name: str
    is_file: bool
    content: bytes = field(repr=False)

    def text(self) -> str:
        """Its content as a text field. Raises InvalidRequest."""
        try:
            text = self.content.decode()
        except UnicodeDecodeError as error:
            _refuse(f"{strict_json.field('', self.name)} is not valid UTF-8 (byte {error.start})", self.name)
        if "\0" in text:
            _refuse(f"{strict_json.field('', self.name)} holds a NUL character", self.name)
        return text


def is_form(content_type: str) -> bool:
    """Whether the Content-Type names a form, well or badly."""
    return content_type.partition(";")[0].strip().lower() == MEDIA_TYPE


def parse(raw: bytes, content_type: str) -> list[FormPart]:
    """The parts in order. Raises InvalidRequest naming the part, by its name or its number from 1."""
    boundary = _words(content_type, "Content-Type").get("boundary", "")
    if not BOUNDARY.fullmatch(boundary):
        _refuse("Content-Type: the boundary is missing or not valid")
    return [_part(piece, number) for number, piece in enumerate(_pieces(raw, boundary.encode()), start=1)]


def _pieces(raw: bytes, boundary: bytes) -> Iterator[memoryview]:
    """What stands between the boundaries. Nothing but blank lines may stand before the first and after the last."""
    line, whole = b"--" + boundary, memoryview(raw)
    start = raw.find(line)
    if start < 0 or raw[:start].strip() or (start and raw[start - 2 : start] != b"\r\n"):
        _refuse("The body does not begin with its boundary")
    for number in range(MOST_PARTS + 1):
        start += len(line)
        if raw.startswith(b"--", start):
            if raw[start + 2 :].strip():
                _refuse("The body goes on behind its last boundary")
            return
        start = _next_line(raw, start, number)
        end = raw.find(b"\r\n" + line, max(start - 2, 0))
        if end < 0:
            _refuse(f"Part {number + 1} of the body does not end: its boundary is missing")
        yield whole[start : max(start, end)]
        start = end + 2
    _refuse(f"The body has more than {MOST_PARTS} parts")


def _next_line(raw: bytes, at: int, number: int) -> int:
    end = raw.find(b"\r\n", at, at + 200)
    if end < 0 or raw[at:end].strip(PADDING):
        _refuse(f"The boundary before part {number + 1} of the body is not valid")
    return end + 2


def _part(piece: memoryview, number: int) -> FormPart:
    head, parting, _ = bytes(piece[:HEAD_BYTES]).partition(b"\r\n\r\n")
    if not parting:
        _refuse(f"Part {number} of the body has no whole head")
    headers = _headers(head, number)
    kind, words = _split(headers.get("content-disposition", ""), f"Part {number} of the body: Content-Disposition")
    if kind != "form-data" or not words.get("name"):
        _refuse(f"Part {number} of the body has no name")
    part = FormPart(
        name=words["name"],
        is_file="filename" in words or "filename*" in words,
        content=bytes(piece[len(head) + len(parting) :]),
    )
    _refuse_codings(headers, part)
    return part


def _headers(head: bytes, number: int) -> dict[str, str]:
    """By lower-case name."""
    found: dict[str, str] = {}
    try:
        lines = head.decode().split("\r\n")
    except UnicodeDecodeError:
        _refuse(f"The head of part {number} of the body is not valid UTF-8")
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip() or name.lower() in found:
            _refuse(f"The head of part {number} of the body is not valid")
        found[name.lower()] = value.strip()
    return found


def _refuse_codings(headers: dict[str, str], part: FormPart) -> None:
    shown = strict_json.field("", part.name)
    if headers.get("content-transfer-encoding", "").lower() not in PLAIN_ENCODINGS:
        _refuse(f"{shown}: no Content-Transfer-Encoding is accepted", part.name)
    if not part.is_file and (given := headers.get("content-type")):
        charset = _words(given, f"{shown}: Content-Type").get("charset", "")
        if charset.lower() not in CHARSETS:
            _refuse(f"{shown}: the charset must be utf-8", part.name)


def _words(value: str, of: str) -> dict[str, str]:
    return _split(value, of)[1]


def _split(value: str, of: str) -> HeaderWord:
    """A header's first word and its parameters, both named in lower case."""
    kind, semicolon, rest = value.partition(";")
    left, words = (semicolon + rest).strip(), dict[str, str]()
    while left and left != ";":
        found = PARAMETER.match(left)
        if found is None or found[1].lower() in words:
            _refuse(f"{of} is not valid")
        words[found[1].lower()] = ESCAPED.sub(r"\1", found[2]) if found[2] is not None else found[3]
        left = left[found.end() :]
    return kind.strip().lower(), words


def _refuse(problem: str, param: str | None = None) -> NoReturn:
    raise InvalidRequest(f"{problem}.", param=param)
