"""The store of the settings: its interface, its health, and its faults as StorageUnavailable. Only `blobs` moves bytes
by it."""

import logging
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import BinaryIO, ClassVar, Protocol

from django.core.files.storage import FileSystemStorage, Storage, storages
from django.utils.module_loading import import_string

from common.errors import StorageUnavailable
from storage.files import FileStore

logger = logging.getLogger(__name__)

TRUST_SECONDS = 5.0
DISTRUST_SECONDS = 1.0
MOMENT_SECONDS = 0.1  # the most that passes between `is_known` and what is done upon it, mostly
RETRY_AFTER = {"Retry-After": "30"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a URL of the storage itself leads. `key` is None for what is none of ours; `ends_at` is the Unix time at
    which a presigned URL stops working, None for a URL that is not presigned."""

    key: str | None
    ends_at: float | None


class Store(Protocol):
    """One kind of storage. Methods raise its own exceptions, all of them listed in `faults`."""

    faults: ClassVar[tuple[type[Exception], ...]]

    def spool(self) -> AbstractContextManager[BinaryIO]:
        """A new unbuffered temporary file on disk, gone at the end of the block unless it was kept."""

    def incoming_dir(self) -> Path | None:
        """The folder of files that `share` takes; None where it takes none."""

    def keep(self, file: BinaryIO, key: str) -> None:
        """Make a spooled file durable under its key, whole or not at all."""

    def share(self, file: BinaryIO, key: str) -> None:
        """The same of a file of `incoming_dir`, which stays there, too. To be tried once: after a fault a disk may
        take for written what is lost."""

    def open(self, key: str) -> BinaryIO:
        """A readable, seekable file."""

    def open_range(self, key: str, start: int, length: int) -> BinaryIO:
        """A readable file that begins at `start`; a fault where fewer than `length` bytes follow."""

    def read(self, key: str, start: int, length: int) -> bytes:
        """So many bytes from `start` on; fewer where the file ends before."""

    def read_cached(self, key: str, start: int, length: int) -> bytes | None:
        """The same where the machine has all of them in memory; None where anything would have to be waited for."""

    def path(self, key: str) -> str | None:
        """Where the file lies on this machine; None for one that does not."""

    def delete(self, key: str) -> None:
        """Deleting what is not there is no fault."""

    def presigned_url(self, key: str, *, seconds: int, content_type: str, disposition: str) -> str | None:
        """A URL that the storage itself serves, or None."""

    def place_of(self, url: str) -> Place | None:
        """Where a URL of this storage leads; None for one that leads elsewhere. Does not verify its signature."""

    def probe(self) -> None:
        """Write a tiny file and delete it."""

    def sweep(self, older_than_seconds: float) -> int:
        """Delete abandoned temporary files; returns how many."""


class Health:
    """Whether a store takes writes: probed at most every few seconds, by one thread while the others go on."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.lock = Lock()
        self.is_good: bool | None = None
        self.until = 0.0

    def is_known(self) -> bool:
        """Whether `check` asks the store nothing now, nor in a moment: it is not due, or somebody asks already."""
        is_due = time.monotonic() + MOMENT_SECONDS >= self.until
        return self.is_good is not None and (not is_due or self.lock.locked())

    def check(self) -> None:
        """Write and delete a tiny file, at most every few seconds per process. Raises StorageUnavailable."""
        if time.monotonic() >= self.until and self.lock.acquire(blocking=self.is_good is None):
            try:
                self._renew()
            finally:
                self.lock.release()
        if not self.is_good:
            raise StorageUnavailable(headers=RETRY_AFTER)

    def _renew(self) -> None:
        if time.monotonic() < self.until:
            return
        try:
            with translated(self.store):
                self.store.probe()
            self.is_good = True
        except StorageUnavailable:
            self.is_good = False
        self.until = time.monotonic() + (TRUST_SECONDS if self.is_good else DISTRUST_SECONDS)


def current() -> Store:
    """The store of the settings."""
    return _health_of(storages["assets"]).store


def health() -> Health:
    """How the store of the settings is doing, as this process knows."""
    return _health_of(storages["assets"])


@lru_cache(maxsize=1)
def _health_of(backend: Storage) -> Health:
    if isinstance(backend, FileSystemStorage):
        return Health(FileStore(backend))
    # boto3 is an optional dependency, so the module that needs it is loaded by name.
    return Health(import_string("storage.s3.S3Store")(backend))


@contextmanager
def translated(store: Store) -> Iterator[None]:
    """Faults of the store come out as StorageUnavailable, their cause only in the log."""
    try:
        yield
    except store.faults as error:
        logger.warning("asset storage: %s: %s", type(error).__name__, error)
        raise StorageUnavailable(headers=RETRY_AFTER) from error
