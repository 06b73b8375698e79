"""JSON answers with pictures inside: long strings go to files while they arrive, so that no body stands in memory."""

import binascii
import json
import os
import re
import secrets
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

LONG_BYTES = 64 * 1024
MAX_TEXT_BYTES = 2 * 1024 * 1024
ESCAPE_BYTES = 6  # the longest escape, \uXXXX
PLAIN = re.compile(rb'[^"\\]*')


class Spool:
    """Reads one JSON body. Base64 strings beyond LONG_BYTES become files in `folder`; `picture` hands one out, and
    leaving the context deletes those that nobody took."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._files: dict[str, Base64File] = {}
        self._taken: set[Path] = set()
        self._text = bytearray()  # the document, with a token in the place of each long string
        self._string = bytearray()  # of the string being read, what is not written yet
        self._file: Base64File | None = None
        self._is_string = self._is_escaped = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in [*self._files.values(), *filter(None, [self._file])]:
            file.close()
            if file.path not in self._taken:
                file.path.unlink(missing_ok=True)

    def read(self, chunks: Iterable[bytes]) -> Any:
        """The JSON document, a token in the place of each long string; None for what is no JSON of sane size."""
        try:
            for chunk in chunks:
                self._feed(chunk)
            return json.loads(self._text)
        except (ValueError, RecursionError):
            return None

    def picture(self, text: str) -> Path | None:
        """The file of a base64 string of the document, the caller's to delete; None if it is no base64."""
        file = self._files.get(text)
        if file is None:
            file = Base64File(self._folder)
            self._files[secrets.token_hex()] = file
            file.write(json.dumps(text)[1:-1].encode())
        file.close()
        if file.is_broken:
            return None
        self._taken.add(file.path)
        return file.path

    def _feed(self, chunk: bytes) -> None:
        position = 0
        while position < len(chunk):
            position = self._inside(chunk, position) if self._is_string else self._outside(chunk, position)
        if len(self._text) > MAX_TEXT_BYTES:
            raise ValueError("more text than an answer has")

    def _outside(self, chunk: bytes, position: int) -> int:
        end = chunk.find(b'"', position) + 1 or len(chunk)
        self._text += chunk[position:end]
        self._is_string = chunk[end - 1 : end] == b'"'
        return end

    def _inside(self, chunk: bytes, position: int) -> int:
        if self._is_escaped:
            self._string += chunk[position : position + 1]
            self._is_escaped = False
            return position + 1
        end = PLAIN.match(chunk, position).end()  # type: ignore[union-attr]
        self._string += chunk[position:end]
        if len(self._string) > LONG_BYTES:
            self._spill()
        if chunk[end : end + 1] == b'"':
            self._close_string()
        elif end < len(chunk):
            self._string += b"\\"
            self._is_escaped = True
        return end + 1

    def _spill(self) -> None:
        """Move what has been read of the string to its file, but for an escape that may not be whole yet."""
        self._file = self._file or Base64File(self._folder)
        backslash = self._string.rfind(b"\\", -ESCAPE_BYTES)
        cut = len(self._string) if backslash < 0 else backslash
        self._file.write(bytes(self._string[:cut]))
        del self._string[:cut]

    def _close_string(self) -> None:
        if self._file is not None:
            self._file.write(bytes(self._string))
            self._file.close()  # an answer may hold more of them than a process may keep open
            token = secrets.token_hex()
            self._files[token] = self._file
            self._string = bytearray(token.encode())
        self._text += self._string + b'"'
        self._string.clear()
        self._file, self._is_string = None, False


class Base64File:
    """A new file, written from pieces of a JSON string in base64; a Data URL's head is skipped."""

    def __init__(self, folder: Path | None) -> None:
        descriptor, name = tempfile.mkstemp(prefix="output-", dir=folder)
        self.path = Path(name)
        self.is_broken = False
        self._file = os.fdopen(descriptor, "wb")
        self._rest = b""
        self._is_first = True

    def write(self, piece: bytes) -> None:
        try:
            plain = json.loads(b'"' + piece + b'"').encode() if b"\\" in piece else piece
            if self._is_first and plain.startswith(b"data:"):
                plain = plain.partition(b",")[2]
            self._is_first = False
            self._decode(self._rest + plain.translate(None, b"\r\n \t"))
        except ValueError:
            self.is_broken = True

    def close(self) -> None:
        if self._file.closed:
            return
        try:
            self._decode(self._rest + b"=" * (-len(self._rest) % 4))
        except ValueError:
            self.is_broken = True
        self._file.close()

    def _decode(self, text: bytes) -> None:
        whole = len(text) // 4 * 4
        self._file.write(binascii.a2b_base64(text[:whole], strict_mode=True))
        self._rest = text[whole:]
