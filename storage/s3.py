"""Assets in an S3 bucket, through the client of django-storages' backend. Needs the extra `s3`."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, cast
from urllib.parse import parse_qs, unquote, urlsplit

from boto3.exceptions import Boto3Error
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from common import urls
from storage.backends import Place

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

CLIENT = Config(
    signature_version="s3v4",
    connect_timeout=5,
    read_timeout=30,
    max_pool_connections=64,
    retries={"mode": "standard", "total_max_attempts": 3},
    # Newer checksums are asked for only where S3 demands them: not every compatible server knows them.
    request_checksum_calculation="when_required",
    response_checksum_validation="when_required",
)
LONGEST_SECONDS = 7 * 86_400  # what signature version 4 allows
SIGNED = ("X-Amz-Date", "X-Amz-Expires", "X-Amz-Signature")


class S3Store:
    faults: ClassVar[tuple[type[Exception], ...]] = (BotoCoreError, ClientError, Boto3Error, OSError)

    def __init__(self, backend: Any) -> None:
        backend.client_config = backend.client_config.merge(CLIENT)
        self.client: S3Client = backend.connection.meta.client  # one for all threads: clients are thread-safe
        self.bucket: str = backend.bucket_name
        self.prefix = f"{backend.location.strip('/')}/".lstrip("/")
        self.transfer = TransferConfig(use_threads=False)

    def spool(self) -> AbstractContextManager[BinaryIO]:
        return cast(AbstractContextManager[BinaryIO], tempfile.TemporaryFile(buffering=0))

    def incoming_dir(self) -> None:
        """There is none."""

    def keep(self, file: BinaryIO, key: str) -> None:
        file.seek(0)
        self.client.upload_fileobj(file, self.bucket, self.prefix + key, Config=self.transfer)

    def share(self, file: BinaryIO, key: str) -> None:
        self.keep(file, key)

    def open(self, key: str) -> BinaryIO:
        """A local copy, because callers seek and ask for its length."""
        with ExitStack() as stack:
            file = cast(BinaryIO, stack.enter_context(tempfile.TemporaryFile()))
            self.client.download_fileobj(self.bucket, self.prefix + key, file, Config=self.transfer)
            file.seek(0)
            stack.pop_all()
        return file

    def open_range(self, key: str, start: int, length: int) -> BinaryIO:
        found = self.client.get_object(
            Bucket=self.bucket, Key=self.prefix + key, Range=f"bytes={start}-{start + length - 1}"
        )
        return cast(BinaryIO, found["Body"])

    def read(self, key: str, start: int, length: int) -> bytes:
        with closing(self.open_range(key, start, length)) as file:
            return file.read()

    def read_cached(self, key: str, start: int, length: int) -> None:
        """Nothing of a bucket is."""

    def path(self, key: str) -> None:
        """None is on this machine."""

    def delete(self, key: str) -> None:
        self.client.delete_object(Bucket=self.bucket, Key=self.prefix + key)

    def presigned_url(self, key: str, *, seconds: int, content_type: str, disposition: str) -> str | None:
        return self.client.generate_presigned_url(
            "get_object",
            Params={
                "Bucket": self.bucket,
                "Key": self.prefix + key,
                "ResponseContentType": content_type,
                "ResponseContentDisposition": disposition,
            },
            ExpiresIn=min(seconds, LONGEST_SECONDS),
        )

    @cached_property
    def roots(self) -> list[tuple[str, str]]:
        """All addresses of the bucket, as authority and path: in path style and as a virtual host.

        AWS signs for another host than the endpoint that it names, so that one is asked for.
        """
        minted = self.client.generate_presigned_url("get_object", Params={"Bucket": self.bucket, "Key": "k"})
        signed_for = minted.partition("?")[0].removesuffix("/k")
        in_path = signed_for.removesuffix(f"/{self.bucket}")
        base = in_path if in_path != signed_for else signed_for.replace(f"://{self.bucket}.", "://")
        bases = {self.client.meta.endpoint_url.rstrip("/"), base}
        found = [f"{base}/{self.bucket}/" for base in bases]
        found += [f"{base.replace('://', f'://{self.bucket}.')}/" for base in bases]
        return [(authority, urlsplit(root).path) for root in found if (authority := _authority(root))]

    def place_of(self, url: str) -> Place | None:
        authority = _authority(url)
        if authority is None:
            return None
        parts = urlsplit(url)
        path = unquote(parts.path)
        for known, root in self.roots:
            if known == authority and path.startswith(root):
                key = path.removeprefix(root)
                is_ours = key.startswith(self.prefix) and "\0" not in key  # PostgreSQL compares with no NUL
                ours = key.removeprefix(self.prefix) if is_ours else None
                return Place(key=ours, ends_at=_end(parse_qs(parts.query)))
        return None

    def probe(self) -> None:
        key = f"{self.prefix}probe"
        self.client.put_object(Bucket=self.bucket, Key=key, Body=b"probe")
        self.client.delete_object(Bucket=self.bucket, Key=key)

    def sweep(self, older_than_seconds: float) -> int:
        """Nothing to do: temporary files here have no name and end with their process."""
        return 0


def _authority(url: str) -> str | None:
    """None for what is no URL: not every bucket's name makes a host, and none does before an IP address."""
    try:
        return urls.split(url).authority
    except ValueError:
        return None


def _end(query: Mapping[str, Sequence[str]]) -> float | None:
    """When a presigned URL of signature version 4 stops working, as Unix time; None for one that is not signed so."""
    date, seconds, signature = (query.get(name, [""])[0] for name in SIGNED)
    if not signature or not re.fullmatch("[0-9]{1,6}", seconds):
        return None
    try:
        begin = datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None
    return begin.timestamp() + min(int(seconds), LONGEST_SECONDS)
