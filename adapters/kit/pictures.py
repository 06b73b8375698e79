"""Synchronous answers with pictures in them: their bytes go to files, addresses stay addresses."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from adapters.base import Connection, Done, ErrorKind, Output, UpstreamError
from adapters.kit.http import HttpCall, calling, error_of
from adapters.kit.outputs import address_of
from adapters.kit.reports import of_pictures
from adapters.kit.spool import Spool
from adapters.kit.written_files import is_data_url
from common.concurrency.turnstile import Turnstile

MAX_ANSWER_BYTES = 512 * 1024 * 1024

# Answers that have come wait in the system's buffers, not in ours. One whose provider is slow holds up no other.
answers = Turnstile(4, seconds=0.02)

Items = Callable[[Any], Iterable[tuple[object, object]] | None]
"""The pictures of an answer as (base64 or None, URL or None); None for a document that is no success. May raise the
UpstreamError that a success stands for in truth."""


def bought(call: HttpCall, connection: Connection, items_of: Items) -> Done:
    """The paid call. A partial answer counts; one without a single picture is what it says in the place of pictures,
    else an EMPTY_RESULT. Raises UpstreamError."""
    with (
        calling(call, connection) as reply,
        Spool(*filter(None, [connection.output_dir]), connection.scratch_dir) as spool,
    ):
        # What has come must not be lost in line: half of the time that is left is for reading it.
        with answers.passage(patience=reply.deadline.remaining / 2):
            document = spool.read(reply.chunks)
        items = items_of(document)
        if items is None:
            raise error_of(document, reply, call, connection)
        outputs = tuple(_outputs(items, spool))
        if not outputs:
            raise _without_pictures(error_of(document, reply, call, connection))
    return Done(outputs=outputs, reported=of_pictures(document))


def _without_pictures(error: UpstreamError) -> UpstreamError:
    """A success says nothing by its status: only a code that is known tells why it is empty."""
    if error.kind is not ErrorKind.AMBIGUOUS:
        return error
    return UpstreamError(ErrorKind.EMPTY_RESULT, "the answer has no picture", http_status=error.http_status)


def data_items(document: Any) -> Iterable[tuple[object, object]] | None:
    """The items of `{"data": [{"b64_json" | "url"}]}`."""
    items = document.get("data") if isinstance(document, dict) else None
    if not isinstance(items, list):
        return None
    return [(item.get("b64_json"), item.get("url")) for item in items if isinstance(item, dict)]


def _outputs(items: Iterable[tuple[object, object]], spool: Spool) -> Iterator[Output]:
    found = (kept for encoded, url in items if (kept := _kept(encoded, url, spool)))
    for index, kept in enumerate(found):
        yield Output(index=index, kind="image", **kept)


def _kept(encoded: object, url: object, spool: Spool) -> dict[str, Any]:
    """What is kept of a picture: the file of its bytes, wherever these stand, else its address; empty without any."""
    for value in (encoded, url):
        if not isinstance(value, str) or not value:
            continue
        if address_of(value):
            return {"url": value}
        if (value is encoded or is_data_url(value)) and (path := spool.picture(value)):
            return {"path": path}
    return {}
