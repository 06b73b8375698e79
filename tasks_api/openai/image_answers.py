"""The answer to an image call: OpenAI's ImagesResponse of a task that has ended, or the error that it stands for.

The base64 of a picture is made while it is sent, piece by piece: no picture is ever whole in memory, and while a client
reads slowly no thread is held.
"""

import base64
import json
from asyncio import Future
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from common import error_types
from common.concurrency import threads
from common.errors import AssetExpired, EndedWithout, InternalError
from common.http.asgi import Headers, Send
from storage import blobs
from storage.blobs import Reading
from tasks.assets import links
from tasks.shown import representation
from tasks.shown.representation import TaskView
from tasks_api.openai.image_calls import AwaitedTask
from tasks_api.openai.image_requests import Format

IMAGE = "image/"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredPicture:
    """Stands in an answer for the base64 of these bytes."""

    key: str
    size: int

    @property
    def length(self) -> int:
        return 4 * -(-self.size // 3)


Pieces = tuple[bytes | StoredPicture, ...]


class PictureAnswer:
    """A 200 whose first picture is open. It is closed by whoever has it."""

    def __init__(self, pieces: Pieces, headers: Headers, first: Reading | None) -> None:
        self._pieces = pieces
        self._headers = headers
        self._reading = first

    def close(self) -> None:
        if self._reading:
            self._reading.close()

    async def send(self, send: Send, leaving: "Future[None]") -> None:
        """Send it until the end or until the client has left. A fault of the storage is raised: the answer stays
        short of its Content-Length, so that the server cuts the connection and the client sees it."""
        await send({"type": "http.response.start", "status": 200, "headers": list(self._headers)})
        for piece in self._pieces:
            if isinstance(piece, bytes):
                await _more(send, piece)
            else:
                await self._send_picture(piece, send, leaving)
            if leaving.done():
                return
        await send({"type": "http.response.body", "body": b""})

    async def _send_picture(self, picture: StoredPicture, send: Send, leaving: "Future[None]") -> None:
        if self._reading is None:
            self._reading = await opened(picture)
        encoded = _base64(self._reading)
        while self._reading.remaining and not leaving.done():
            await _more(send, await threads.compute(next, encoded, b""))
        self._reading.close()
        self._reading = None


async def of(task: AwaitedTask, headers: Headers) -> PictureAnswer:
    """Of a task that has ended. Raises EndedWithout, AssetExpired, and StorageUnavailable where its first picture
    cannot be read."""
    pieces = await threads.call(_read, task)
    length = sum(len(piece) if isinstance(piece, bytes) else piece.length for piece in pieces)
    own = ((b"content-type", b"application/json"), (b"content-length", str(length).encode()))
    first = next((piece for piece in pieces if isinstance(piece, StoredPicture)), None)
    return PictureAnswer(pieces, own + headers, await opened(first) if first else None)


def _read(task: AwaitedTask) -> Pieces:
    """On a thread: signing the addresses of pictures is work, too."""
    found = representation.find_one(task.key_id, task.task_id)
    if found is None:
        raise InternalError()
    return pieces_of(found, task.response_format)


async def opened(picture: StoredPicture) -> Reading:
    return await threads.compute(blobs.read_range, picture.key, 0, picture.size)


def pieces_of(task: TaskView, response_format: Format | None) -> Pieces:
    """The body in order. Raises EndedWithout and AssetExpired."""
    if task.status != "succeeded":
        raise error_of(task)
    now = timezone.now()
    if any(links.is_gone(links.asset_row(task.id, row), now) for row in task.assets):
        raise AssetExpired(may_have_cost=True)
    pieces: list[bytes | StoredPicture] = [_head(task)]
    for number, row in enumerate(task.assets):
        pieces.append(b"{" if number == 0 else b",{")
        if response_format != "url":
            picture = StoredPicture(key=row["storage_key"], size=row["size_bytes"])
            pieces += [b'"b64_json":"', picture, b'"' if response_format else b'",']
        if response_format != "b64_json":
            pieces.append(b'"url":' + json.dumps(links.public(task.id, row, now=now)["url"]).encode())
        pieces.append(b"}")
    return (*pieces, b"]}")


def error_of(task: TaskView) -> EndedWithout:
    """What a task without a result says of itself."""
    if task.status == "canceled":
        return EndedWithout(
            error_types.CANCELED.name, error_types.CANCELED.ended_status, "The task was canceled before it was begun."
        )
    error = task.error or {}
    error_type, message = str(error.get("type", InternalError.type)), str(error.get("message", ""))
    return EndedWithout(error_type, error_types.ended_status(error_type), message)


def _head(task: TaskView) -> bytes:
    """What is known of all pictures: nothing is invented."""
    finished_at = task.finished_at or task.created_at
    known = {"created": int(finished_at.timestamp()), **_shared(task.assets)}
    return json.dumps(known, separators=(",", ":")).encode()[:-1] + b',"data":['


def _shared(assets: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What all pictures have in common."""
    formats = {row["content_type"] for row in assets}
    sizes = {(row["width"], row["height"]) for row in assets}
    known: dict[str, str] = {}
    if len(formats) == 1 and (name := next(iter(formats))).startswith(IMAGE):
        known["output_format"] = name.removeprefix(IMAGE)
    if len(sizes) == 1 and all(sides := next(iter(sizes))):
        known["size"] = "{}x{}".format(*sides)
    return known


def _base64(reading: Reading) -> Iterator[bytes]:
    """Its base64 in pieces, the rest of each carried to the next: padding stands only at the end."""
    rest = b""
    for chunk in reading:
        rest += chunk
        whole = len(rest) if not reading.remaining else len(rest) // 3 * 3
        yield base64.b64encode(rest[:whole])
        rest = rest[whole:]


async def _more(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
