"""JSON answers with pictures inside: long strings go to files while they arrive, so that no body stands in memory."""

import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Self

from adapters.kit.written_files import Decoder
from common import private_files

LONG_BYTES = 64 * 1024
MAX_TEXT_BYTES = 2 * 1024 * 1024
ESCAPE_BYTES = 6  # the longest escape, \uXXXX
LONG_DATA_URL = "data:;base64,"


class Spool:
    """Reads one JSON body. Strings beyond LONG_BYTES become files in the first of the folders that takes them (None:
    the system's), and tokens in the document; that of a Data URL looks like one. `picture` hands a file out, and
    leaving the context deletes those that nobody took, and with an exception all."""

    def __init__(self, *folders: Path | None) -> None:
        self._folders = folders
        self._files: dict[str, Base64File] = {}
        self._taken: set[Path] = set()
        self._text = bytearray()  # the document, with a token in the place of each long string
        self._string = bytearray()  # of the string being read, what is not written yet
        self._file: Base64File | None = None
        self._is_string = self._is_escaped = False
        self._quote = -1  # where the next one stands in this chunk, once it was looked for

    def __enter__(self) -> Self:
        return self

    def __exit__(self, fault: object, *_: object) -> None:
        for file in [*self._files.values(), *filter(None, [self._file])]:
            if fault or file.path not in self._taken:
                file.delete()

    def read(self, chunks: Iterable[bytes]) -> Any:
        """The JSON document, a token in the place of each long string; None for what is no JSON of sane size."""
        try:
            for chunk in chunks:
                self._feed(chunk)
            return json.loads(self._text)
        except (ValueError, RecursionError):
            return None

    def picture(self, text: str) -> Path | None:
        """The file that a base64 string or a Data URL of the document holds, the caller's to delete; None for another
        text."""
        file = self._files.get(text)
        if file is None:
            file = Base64File(self._folders)
            self._files[secrets.token_hex()] = file
            file.write(json.dumps(text)[1:-1].encode())
        file.close()
        if file.is_broken:
            return None
        self._taken.add(file.path)
        return file.path

    def _feed(self, chunk: bytes) -> None:
        position, self._quote = 0, -1
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
        end = self._end_of_plain(chunk, position)
        self._string += chunk[position:end]
        if len(self._string) > LONG_BYTES:
            self._spill()
        if chunk[end : end + 1] == b'"':
            self._close_string()
        elif end < len(chunk):
            self._string += b"\\"
            self._is_escaped = True
        return end + 1

    def _end_of_plain(self, chunk: bytes, position: int) -> int:
        """Where the next quote or backslash stands; the chunk's length where there is none."""
        if self._quote < position:
            found = chunk.find(b'"', position)
            self._quote = len(chunk) if found < 0 else found
        backslash = chunk.find(b"\\", position, self._quote)
        return self._quote if backslash < 0 else backslash

    def _spill(self) -> None:
        """Move what has been read of the string to its file, but for an escape that may not be whole yet."""
        self._file = self._file or Base64File(self._folders)
        backslash = self._string.rfind(b"\\", -ESCAPE_BYTES)
        cut = len(self._string) if backslash < 0 else backslash
        self._file.write(bytes(self._string[:cut]))
        del self._string[:cut]

    def _close_string(self) -> None:
        if self._file is not None:
            self._file.write(bytes(self._string))
            self._file.close()  # an answer may hold more of them than a process may keep open
            token = (LONG_DATA_URL if self._file.is_data_url else "") + secrets.token_hex()
            self._files[token] = self._file
            self._string = bytearray(token.encode())
        self._text += self._string + b'"'
        self._string.clear()
        self._file, self._is_string = None, False


class Base64File:
    """A new file, written from pieces of a JSON string that holds base64 or is a Data URL. Where the disk of one folder
    is full it moves on to the next. Raises OSError where none takes it."""

    def __init__(self, folders: Sequence[Path | None]) -> None:
        self._folders = iter(folders)
        self._open()
        self.is_broken = False
        self._size = 0
        self._decoder = Decoder()

    @property
    def is_data_url(self) -> bool:
        return self._decoder.is_data_url

    def write(self, piece: bytes) -> None:
        try:
            plain = json.loads(b'"' + piece + b'"').encode() if b"\\" in piece else piece
            self._put(self._decoder.decode(plain))
        except ValueError:
            self.is_broken = True

    def close(self) -> None:
        if self._file.closed:
            return
        try:
            self._put(self._decoder.end())
        except ValueError:
            self.is_broken = True
        self._file.close()

    def delete(self) -> None:
        with suppress(OSError):  # its disk may be gone
            self._file.close()
        with suppress(OSError):
            self.path.unlink()

    def _put(self, content: bytes) -> None:
        try:
            write_all(self._file, content)
        except OSError:
            self._move_on()
            write_all(self._file, content)
        self._size += len(content)

    def _open(self) -> None:
        problem: OSError | None = None
        for folder in self._folders:
            try:
                self.path, self._file = new_file(folder)
                return
            except OSError as error:
                problem = error
        raise problem or OSError("no folder takes the file")

    def _move_on(self) -> None:
        former, path = self._file, self.path
        self._open()
        try:
            with former:
                former.seek(0)
                shutil.copyfileobj(former, self._file)
        finally:
            with suppress(OSError):
                path.unlink()
        self._file.seek(self._size)
        self._file.truncate()


def new_file(folder: Path | None) -> tuple[Path, BinaryIO]:
    """A new unbuffered file that can be read, too. Raises OSError."""
    if folder is None:
        descriptor, name = tempfile.mkstemp(prefix="output-")
        return Path(name), os.fdopen(descriptor, "w+b", buffering=0)
    path = folder / f"{secrets.token_hex(16)}.part"
    return path, open(path, "x+b", buffering=0, opener=private_files.opener)


def write_all(file: BinaryIO, content: bytes) -> None:
    """Unbuffered, so that a full disk shows here and not at close; such a write may be partial."""
    rest = memoryview(content)
    while rest:
        rest = rest[file.write(rest) :]
