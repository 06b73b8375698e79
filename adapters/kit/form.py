"""Request bodies as forms with pictures as files in them."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from adapters.base import Connection, FilePart, UpstreamRequest
from adapters.kit.inline import Picture, pictures
from adapters.kit.multipart import Multipart, Upload


@contextmanager
def form_of(upstream: UpstreamRequest, connection: Connection) -> Iterator[Multipart]:
    """The body of a request as a form, its images fetched or copied first. Raises UpstreamError (ASSET_UNREACHABLE)."""
    fields = [(name, value if isinstance(value, str) else json.dumps(value)) for name, value in upstream.body.items()]
    with TemporaryDirectory(prefix="references-", dir=connection.scratch_dir) as folder:
        found = pictures([part.image for part in upstream.files], Path(folder), connection)
        uploads = [
            _upload(index, part, picture)
            for index, (part, picture) in enumerate(zip(upstream.files, found, strict=True))
        ]
        yield Multipart(fields, uploads)


def _upload(index: int, part: FilePart, picture: Picture) -> Upload:
    kind = picture.content_type.removeprefix("image/")
    name = f"{part.field.removesuffix('[]')}-{index}.{kind}"
    return Upload(field=part.field, name=name, content_type=picture.content_type, path=picture.path)
