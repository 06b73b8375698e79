"""Request bodies as multipart forms, whose reference images stay on disk while they are sent."""

import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from adapters.base import Connection, FilePart, UpstreamRequest
from adapters.kit.references import Picture, fetched

CHUNK_BYTES = 64 * 1024


@contextmanager
def form_of(upstream: UpstreamRequest, connection: Connection) -> Iterator["Multipart"]:
    """The body of a request as a form, its images fetched or copied first. Raises as `fetched`."""
    fields = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in upstream.body.items()]
    with fetched([part.image for part in upstream.files], connection) as pictures:
        uploads = [
            _upload(index, part, picture)
            for index, (part, picture) in enumerate(zip(upstream.files, pictures, strict=True))
        ]
        yield Multipart(fields, uploads)


def _upload(index: int, part: FilePart, picture: Picture) -> "Upload":
    kind = picture.content_type.removeprefix("image/")
    name = f"{part.field.removesuffix('[]')}-{index}.{kind}"
    return Upload(field=part.field, name=name, content_type=picture.content_type, path=picture.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file part. `name` is the file's name as the other side sees it."""

    field: str
    name: str
    content_type: str
    path: Path


class Multipart:
    """A body of text fields and files, in order; iterable in chunks, with its length known beforehand."""

    def __init__(self, fields: Sequence[tuple[str, str]], uploads: Sequence[Upload]) -> None:
        boundary = secrets.token_hex(16)
        self.content_type = f"multipart/form-data; boundary={boundary}"
        self._parts: list[bytes | Path] = []
        for name, value in fields:
            self._parts.append(_head(boundary, f'name="{_quoted(name)}"') + value.encode() + b"\r\n")
        for upload in uploads:
            names = f'name="{_quoted(upload.field)}"; filename="{_quoted(upload.name)}"'
            self._parts += [_head(boundary, names, upload.content_type), upload.path, b"\r\n"]
        self._parts.append(f"--{boundary}--\r\n".encode())

    def __len__(self) -> int:
        return sum(part.stat().st_size if isinstance(part, Path) else len(part) for part in self._parts)

    def __iter__(self) -> Iterator[bytes]:
        for part in self._parts:
            if isinstance(part, Path):
                with part.open("rb") as file:
                    yield from iter(lambda: file.read(CHUNK_BYTES), b"")
            else:
                yield part


def _head(boundary: str, names: str, content_type: str | None = None) -> bytes:
    kind = f"Content-Type: {content_type}\r\n" if content_type else ""
    return f"--{boundary}\r\nContent-Disposition: form-data; {names}\r\n{kind}\r\n".encode()


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
