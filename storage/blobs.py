"""Keeps bytes under random keys and reads them; every fault comes out as StorageUnavailable.

`storage/media_types.py` says what the bytes are, `storage/backends.py` where they lie, `tasks/assets/` whose they are
and how long they stay.
"""

import hashlib
import logging
import os
import secrets
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from adapters.base import FileChunks, StoredFile
from common.errors import StorageUnavailable
from storage import backends
from storage.backends import Place, Store, translated
from storage.files import Folder

logger = logging.getLogger(__name__)

HEAD_BYTES = 4096
CHUNK_BYTES = 256 * 1024
FILES = 256  # for one folder, before the next


class Keys:
    """Keys of new files: random, and spread over folders. A process fills one folder after the other, so that it makes
    few, and that one flush of a folder serves many files."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._beginning, self._left = "", 0

    def new(self, folder: Folder) -> str:
        """Such as results/3f/a0/3fa0…, 32 hexadecimal digits in all, 28 of them random for each file."""
        with self._lock:
            if not self._left:
                self._beginning, self._left = secrets.token_hex(2), FILES
            self._left -= 1
            name = self._beginning + secrets.token_hex(14)
        return f"{folder}/{name[:2]}/{name[2:4]}/{name}"


_keys = Keys()


class TooLarge(Exception):
    """More bytes came than were allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """Bytes under a key."""

    key: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """Bytes that have arrived in a temporary file and are not kept yet; `file` can be read and sought, `head` is its
    beginning, for sniffing. A `shared` file is somebody else's to delete."""

    store: Store
    file: BinaryIO
    size_bytes: int
    sha256: str
    head: bytes
    shared: bool = False

    def keep(self, folder: Folder) -> Stored:
        """Store them under a new random key. Raises what `receive` translates."""
        key = _keys.new(folder)
        (self.store.share if self.shared else self.store.keep)(self.file, key)
        return Stored(key=key, size_bytes=self.size_bytes, sha256=self.sha256)


@contextmanager
def receive(chunks: Iterable[bytes], *, max_bytes: int) -> Iterator[Incoming]:
    """Write the chunks to a temporary file, gone at the end of the block unless it was kept. Where they are those of a
    file in `incoming_dir`, it is that file.

    Raises TooLarge as soon as there are more than `max_bytes`, StorageUnavailable for a full or broken disk, within the
    block, too, and lets through what the chunks raise.
    """
    store = backends.current()
    if isinstance(chunks, FileChunks) and chunks.path.parent == store.incoming_dir():
        with translated(store):
            yield _examine(chunks.file, store, max_bytes)
        return
    with ExitStack() as stack:
        with translated(store):
            file = stack.enter_context(store.spool())
        incoming = _write(chunks, file, store, max_bytes)
        with translated(store):
            yield incoming


def _write(chunks: Iterable[bytes], file: BinaryIO, store: Store, max_bytes: int) -> Incoming:
    digest, size, head = hashlib.sha256(), 0, b""
    for chunk in chunks:
        size += len(chunk)
        if size > max_bytes:
            raise TooLarge(f"more than {max_bytes} bytes")
        if len(head) < HEAD_BYTES:
            head += chunk[: HEAD_BYTES - len(head)]
        digest.update(chunk)
        with translated(store):
            _write_all(file, chunk)
    return Incoming(store=store, file=file, size_bytes=size, sha256=digest.hexdigest(), head=head)


def _examine(file: BinaryIO, store: Store, max_bytes: int) -> Incoming:
    digest, size, head = hashlib.sha256(), 0, b""
    while chunk := file.read(CHUNK_BYTES):
        head = head or chunk[:HEAD_BYTES]
        digest.update(chunk)
        size += len(chunk)
    if size > max_bytes:
        raise TooLarge(f"more than {max_bytes} bytes")
    return Incoming(store=store, file=file, size_bytes=size, sha256=digest.hexdigest(), head=head, shared=True)


def _write_all(file: BinaryIO, chunk: bytes) -> None:
    # Unbuffered, so that a full disk shows here and not again at close; such a write may be partial.
    rest = memoryview(chunk)
    while rest:
        rest = rest[file.write(rest) :]


def put(chunks: Iterable[bytes], *, max_bytes: int, folder: Folder = "results") -> Stored:
    """Store the chunks under a new random key. Raises TooLarge and StorageUnavailable."""
    with receive(chunks, max_bytes=max_bytes) as incoming:
        return incoming.keep(folder)


def put_input(content: bytes, content_type: str) -> StoredFile:
    """Store a Data URL's bytes of a submission. Raises StorageUnavailable."""
    stored = put([content], max_bytes=len(content), folder="inputs")
    return StoredFile(key=stored.key, content_type=content_type, size_bytes=stored.size_bytes, sha256=stored.sha256)


def open(key: str) -> BinaryIO:  # noqa: A001
    """The bytes as a readable, seekable file that the caller closes. Raises StorageUnavailable, missing included."""
    store = backends.current()
    with translated(store):
        return store.open(key)


class Reading(Iterator[bytes]):
    """Chunks of a stored range, until it is read or closed; raises StorageUnavailable."""

    def __init__(self, store: Store, file: BinaryIO, length: int) -> None:
        self.store, self.file, self.remaining = store, file, length

    def __next__(self) -> bytes:
        if not self.remaining:
            raise StopIteration
        with translated(self.store):
            chunk = self.file.read(min(CHUNK_BYTES, self.remaining))
        if not chunk:
            raise _ended_early(self.remaining)
        self.remaining -= len(chunk)
        return chunk

    def close(self) -> None:
        self.file.close()


def _ended_early(missing: int) -> StorageUnavailable:
    logger.warning("asset storage: a file ended %d bytes early", missing)
    return StorageUnavailable(headers=backends.RETRY_AFTER)


def read_range(key: str, start: int, length: int) -> Reading:
    """Open `length` bytes from `start` on, to be closed by the caller. Raises StorageUnavailable, missing included."""
    store = backends.current()
    with translated(store):
        return Reading(store, store.open_range(key, start, length), length)


def read(key: str, start: int, length: int) -> bytes:
    """A range that is small enough for memory. Raises StorageUnavailable, also where fewer bytes are there."""
    store = backends.current()
    with translated(store):
        found = store.read(key, start, length)
    if len(found) < length:
        raise _ended_early(length - len(found))
    return found


def read_cached(key: str, start: int, length: int) -> bytes | None:
    """The same where that takes no time; None where it would take some, or where there is no such range."""
    return backends.current().read_cached(key, start, length)


def is_at_hand(key: str) -> bool:
    """Whether the file lies in a folder of this machine, and is there now."""
    path = backends.current().path(key)
    return path is not None and os.path.exists(path)


def delete(key: str) -> None:
    """What is gone already is no fault. Raises StorageUnavailable."""
    store = backends.current()
    with translated(store):
        store.delete(key)


def presigned_url(key: str, *, seconds: int, content_type: str, disposition: str) -> str | None:
    """A URL that the storage itself serves for so long, with these headers; None where it cannot (files)."""
    return backends.current().presigned_url(key, seconds=seconds, content_type=content_type, disposition=disposition)


def place_of(url: str) -> Place | None:
    """Where a URL that the storage itself serves leads; None for one of elsewhere. Raises StorageUnavailable."""
    store = backends.current()
    with translated(store):
        return store.place_of(url)


def incoming_dir() -> Path | None:
    """A folder whose files are stored without being copied, if there is one; what is forgotten there is swept."""
    return backends.current().incoming_dir()


def sweep(*, older_than_seconds: float) -> int:
    """Delete temporary files that killed processes left behind; returns how many. Raises StorageUnavailable."""
    store = backends.current()
    with translated(store):
        return store.sweep(older_than_seconds)
