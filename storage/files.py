"""Assets in a folder: each is written to a temporary file, synced and renamed, so that no key names half a file."""

import errno
import math
import os
import secrets
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, ClassVar, Literal, get_args

from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import FileSystemStorage

from common import private_files

PROBE = bytes(4096)
# What file systems without hard links say.
NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)

Folder = Literal["results", "inputs"]
FOLDERS: tuple[Folder, ...] = get_args(Folder)


class FileStore:
    faults: ClassVar[tuple[type[Exception], ...]] = (OSError, SuspiciousFileOperation)

    def __init__(self, backend: FileSystemStorage) -> None:
        self.backend = backend
        self.root = Path(backend.location)
        self.incoming = self.root / "incoming"
        self.tells_what_is_cached = hasattr(os, "RWF_NOWAIT")  # Linux on a disk of its own; not over a network
        for name in (self.incoming.name, *FOLDERS):  # also those made before; the root may not be ours alone
            private_files.tighten(self.root / name)

    @contextmanager
    def spool(self) -> Iterator[BinaryIO]:
        path = f"{self.incoming}/{secrets.token_hex(16)}.part"
        with self._new(path) as file:
            try:
                yield file
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(path)

    def _new(self, path: str) -> BinaryIO:
        try:
            return open(path, "x+b", buffering=0, opener=private_files.opener)
        except FileNotFoundError:
            self.incoming_dir()
            return open(path, "x+b", buffering=0, opener=private_files.opener)

    def incoming_dir(self) -> Path:
        if not os.path.isdir(self.incoming):
            with suppress(OSError):
                private_files.make_folder(self.incoming)
        return self.incoming

    def keep(self, file: BinaryIO, key: str) -> None:
        self._put(file, key, os.rename)

    def share(self, file: BinaryIO, key: str) -> None:
        try:
            self._put(file, key, os.link)
        except OSError as error:
            if error.errno not in NO_LINKS:
                raise
            with self.spool() as copy:
                file.seek(0)
                shutil.copyfileobj(file, copy)
                self.keep(copy, key)

    def _put(self, file: BinaryIO, key: str, put: Callable[[str, str], None]) -> None:
        path = self.path(key)
        folder = os.path.dirname(path)
        os.fsync(file.fileno())
        try:
            put(file.name, path)
        except FileNotFoundError:
            private_files.make_folder(Path(folder))
            put(file.name, path)
        try:
            sync_folder(folder)
        except OSError:
            os.unlink(path)
            raise

    def open(self, key: str) -> BinaryIO:
        return self._path(key).open("rb")

    def open_range(self, key: str, start: int, length: int) -> BinaryIO:
        file = self._path(key).open("rb", buffering=0)
        if start + length > os.fstat(file.fileno()).st_size:
            file.close()
            raise OSError(f"{key} is shorter than {start + length} bytes")
        file.seek(start)
        return file

    def read(self, key: str, start: int, length: int) -> bytes:
        descriptor = os.open(self.path(key), os.O_RDONLY)
        try:
            return os.pread(descriptor, length, start)
        finally:
            os.close(descriptor)

    def read_cached(self, key: str, start: int, length: int) -> bytes | None:
        if not self.tells_what_is_cached:
            return None
        try:
            descriptor = os.open(self.path(key), os.O_RDONLY)
        except OSError:
            return None
        found = bytearray(length)
        try:
            size = os.preadv(descriptor, [found], start, os.RWF_NOWAIT)
        except OSError as error:
            self.tells_what_is_cached = error.errno != errno.EOPNOTSUPP
            return None
        finally:
            os.close(descriptor)
        return bytes(found) if size == length else None

    def path(self, key: str) -> str:
        return f"{self.root}/{key}"

    def delete(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)

    def presigned_url(self, key: str, *, seconds: int, content_type: str, disposition: str) -> str | None:
        return None

    def place_of(self, url: str) -> None:
        """Nothing is served from here but by this service itself."""

    def probe(self) -> None:
        with self.spool() as file:
            file.write(PROBE)

    def sweep(self, older_than_seconds: float) -> int:
        old = time.time() - older_than_seconds
        left = [path for path in self.incoming.glob("*.part") if written_at(path) < old]
        for path in left:
            path.unlink(missing_ok=True)
        return len(left)

    def _path(self, key: str) -> Path:
        return Path(self.backend.path(key))


def written_at(path: Path) -> float:
    """In Unix time; never for a file that has been kept or deleted since it was listed."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return math.inf


def sync_folder(folder: str) -> None:
    """Make a rename survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
