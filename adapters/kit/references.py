"""Reference images on their way to a provider: fetched through the outbound door or copied from our storage."""

import shutil
from pathlib import Path
from typing import NoReturn

from adapters.base import Connection, ErrorKind, ImageRef, StoredFile, UpstreamError
from common.deadline import Deadline
from common.outbound import Failed, Limits, Refused, UrlPolicy, open_url

MAX_IMAGE_BYTES = 50 * 1024 * 1024
SIGNATURES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"RIFF", "webp"))


def copy(image: ImageRef, path: Path, connection: Connection, deadline: Deadline) -> str:
    """Write the image to `path` and return its format: png, jpeg or webp. Raises UpstreamError (ASSET_UNREACHABLE)."""
    if image.stored is not None:
        _copy_stored(image.stored, path, connection)
    else:
        _copy_fetched(image.url or "", path, connection, deadline)
    with path.open("rb") as file:
        head = file.read(16)
    for signature, name in SIGNATURES:
        if head.startswith(signature) and (name != "webp" or head[8:12] == b"WEBP"):
            return name
    _unreachable("a reference image is not PNG, JPEG or WebP")


def _copy_stored(stored: StoredFile, path: Path, connection: Connection) -> None:
    try:
        with connection.open_stored(stored) as source, path.open("wb") as file:
            shutil.copyfileobj(source, file)
    except OSError as error:
        _unreachable("a stored reference image cannot be read", error)


def _copy_fetched(url: str, path: Path, connection: Connection, deadline: Deadline) -> None:
    policy = UrlPolicy(allow_networks=connection.allow_networks, deny_networks=connection.deny_networks)
    limits = Limits(max_bytes=MAX_IMAGE_BYTES, total_seconds=deadline.remaining)
    try:
        with open_url(url, policy=policy, limits=limits) as reply, path.open("wb") as file:
            if reply.status != 200:
                _unreachable(f"a reference image answers HTTP {reply.status}")
            file.writelines(reply.chunks)
    except (Refused, Failed) as error:
        _unreachable(f"a reference image cannot be fetched: {error}", error)


def _unreachable(message: str, cause: Exception | None = None) -> NoReturn:
    raise UpstreamError(ErrorKind.ASSET_UNREACHABLE, message) from cause
