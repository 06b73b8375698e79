"""Request bodies in JSON with pictures inside: what the pure `build` marks is written from files while it is sent."""

import base64
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

from adapters.base import Connection, FilePart, ImageRef, UpstreamRequest
from adapters.kit.references import Picture, fetched

CHUNK_BYTES = 48 * 1024  # divisible by 3, so that pieces of base64 join without padding
MARK = "\0file"  # no request holds a NUL, so nobody else writes this key
MARK_TYPE = "\0type"

Form = Literal["data_url", "base64"]


def mark(index: int) -> dict[str, int]:
    """Stands in a body for the content of `upstream.files[index]`."""
    return {MARK: index}


def mark_type(index: int) -> dict[str, int]:
    """Stands in a body for the content type of `upstream.files[index]`."""
    return {MARK_TYPE: index}


def links(images: Sequence[ImageRef]) -> list[str | dict[str, int]]:
    """The address of each image; of one that we hold a mark, for the Data URL."""
    marks = map(mark, range(len(images)))
    return [next(marks) if image.url is None else image.url for image in images]


def files_of(images: Sequence[ImageRef]) -> tuple[FilePart, ...]:
    """What the marks of `links` stand for, in order."""
    return tuple(FilePart(field="image", image=image) for image in images if image.url is None)


def has_marks(value: Any) -> bool:
    """Whether a body has the mark of any file."""
    if isinstance(value, Mapping):
        return MARK in value or any(map(has_marks, value.values()))
    return isinstance(value, list | tuple) and any(map(has_marks, value))


@contextmanager
def body_of(upstream: UpstreamRequest, connection: Connection, form: Form) -> Iterator["InlineJson | None"]:
    """The body of a request, its marked images fetched or copied first; None where it has none of them and is JSON as
    it stands. Raises as `fetched`."""
    with fetched([part.image for part in upstream.files], connection) as pictures:
        yield InlineJson(upstream.body, pictures, form) if pictures else None


class InlineJson:
    """An iterable body of known length, which never stands in memory as a whole."""

    content_type = "application/json"

    def __init__(self, body: Mapping[str, Any], files: Sequence[Picture], form: Form) -> None:
        token = secrets.token_hex()
        self._files, self._form = files, form
        self._texts: list[str] = []
        self._order: list[int] = []
        text = json.dumps(self._tokened(body, token))
        for position, piece in enumerate(text.split(token)):
            if position % 2:
                self._order.append(int(piece))
            else:
                self._texts.append(piece)

    def __iter__(self) -> Iterator[bytes]:
        yield self._texts[0].encode()
        for index, text in zip(self._order, self._texts[1:], strict=True):
            yield self._head(index).encode()
            with self._files[index].path.open("rb") as file:
                while chunk := file.read(CHUNK_BYTES):
                    yield base64.b64encode(chunk)
            yield text.encode()

    def __len__(self) -> int:
        texts = sum(map(len, self._texts))
        return texts + sum(len(self._head(i)) + -(-self._files[i].path.stat().st_size // 3) * 4 for i in self._order)

    def _head(self, index: int) -> str:
        return f"data:{self._files[index].content_type};base64," if self._form == "data_url" else ""

    def _tokened(self, value: Any, token: str) -> Any:
        """The value with `token index token` in the place of each mark."""
        if isinstance(value, Mapping):
            if MARK in value:
                return f"{token}{value[MARK]}{token}"
            if MARK_TYPE in value:
                return self._files[value[MARK_TYPE]].content_type
            return {name: self._tokened(item, token) for name, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._tokened(item, token) for item in value]
        return value
