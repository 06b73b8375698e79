"""Reference images on their way to a provider: fetched through the outbound door or copied from our storage.

All of it happens before the paid call: a fault of our own disk or storage here has surely bought nothing.
"""

import errno
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import NoReturn

from adapters.base import Connection, ErrorKind, ImageRef, NothingSent, UpstreamError
from common.errors import StorageUnavailable
from common.outbound import AddressRefused, Failed, Limits, open_url
from common.outgoing.dial import Deadline
from common.outgoing.lookup import customer

MAX_IMAGE_BYTES = 50 * 1024 * 1024
MOST_SECONDS = 120.0
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"RIFF", "webp"))
TYPES = tuple(f"image/{name}" for _, name in SIGNATURES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A reference image in a file of ours."""

    path: Path
    content_type: str


@contextmanager
def fetched(images: Sequence[ImageRef], connection: Connection) -> Iterator[list[Picture]]:
    """The images as files that are deleted at the end. Raises UpstreamError (ASSET_UNREACHABLE), NothingSent.

    Where there are none, it still sees to it that a file could be made: the answer may need one."""
    if not images:
        with _before_sending():
            _require_place(connection.scratch_dir or Path(gettempdir()))
        yield []
        return
    with ExitStack() as stack:
        with _before_sending():
            # By the end the answer may be paid for: it is not lost because a folder cannot be deleted.
            scratch = TemporaryDirectory(prefix="references-", dir=connection.scratch_dir, ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(scratch))
            with Deadline(min(MOST_SECONDS, connection.total_timeout)) as deadline:
                pictures = [
                    _picture(image, folder / str(index), connection, deadline) for index, image in enumerate(images)
                ]
        yield pictures


@contextmanager
def _before_sending() -> Iterator[None]:
    """Faults of our disk and our storage come out as NothingSent; those of an input's address are no OSErrors."""
    try:
        yield
    except StorageUnavailable as error:
        raise NothingSent("asset storage is unavailable") from error
    except OSError as error:
        raise NothingSent(f"a file of ours failed: {error.strerror or type(error).__name__}") from error


def _require_place(folder: Path) -> None:
    """Raises OSError where no file can be made there. Nothing is made to find out: on a busy disk that takes long."""
    found = os.statvfs(folder)
    is_full = not found.f_bavail or (found.f_files > 0 and not found.f_favail)  # some file systems count no files
    if found.f_flag & os.ST_RDONLY or is_full:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def _picture(image: ImageRef, path: Path, connection: Connection, deadline: Deadline) -> Picture:
    if image.stored is not None:
        with connection.open_stored(image.stored) as source, path.open("wb") as file:
            shutil.copyfileobj(source, file)
    else:
        _copy_fetched(image.url or "", path, connection, deadline)
    with path.open("rb") as file:
        head = file.read(16)
    for signature, name in SIGNATURES:
        if head.startswith(signature) and (name != "webp" or head[8:12] == b"WEBP"):
            return Picture(path=path, content_type=f"image/{name}")
    _unreachable("a reference image is not PNG, JPEG or WebP")


def _copy_fetched(url: str, path: Path, connection: Connection, deadline: Deadline) -> None:
    limits = Limits(max_bytes=MAX_IMAGE_BYTES, total_seconds=deadline.remaining)
    try:
        chosen_by, policy = customer(connection.payer), connection.url_policy
        with open_url(url, policy=policy, limits=limits, chosen_by=chosen_by) as reply, path.open("wb") as file:
            if reply.status != 200:
                _unreachable(f"a reference image answers HTTP {reply.status}")
            file.writelines(reply.chunks)
    except (AddressRefused, Failed) as error:
        if isinstance(error, Failed) and error.reason == "busy":  # the image itself was not asked for
            raise NothingSent(error.words) from error
        _unreachable(f"a reference image cannot be fetched: {error}", error)


def _unreachable(message: str, cause: Exception | None = None) -> NoReturn:
    raise UpstreamError(ErrorKind.ASSET_UNREACHABLE, message) from cause
