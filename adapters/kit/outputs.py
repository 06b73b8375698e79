"""The bytes of what a provider produced: from its own origin with credentials, from elsewhere through the door."""

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TypeGuard

from adapters.base import MAX_OUTPUT_BYTES, Connection, ErrorKind, FileChunks, Output, UpstreamError
from adapters.kit import error_kinds, http
from adapters.kit.compression import plain
from adapters.kit.http import Authorize, bearer
from adapters.kit.written_files import content_of, is_data_url
from common.outbound import REDIRECTS, AddressRefused, Failed, Limits, Reply, fetchable, joined, open_url
from common.outgoing.dial import Deadline
from common.outgoing.lookup import provider
from common.outgoing.wire import CHUNK_BYTES, Message, exchange

DEFAULT_PORTS = {"http": 80, "https": 443}
ORIGIN = re.compile(r"(https?)://([a-z0-9._-]+|\[[0-9a-f:.]+\])(?::([0-9]{1,5}))?(?=[/?]|\Z)", re.IGNORECASE | re.ASCII)
MAX_REDIRECTS = 3
SAYS_GONE = (ErrorKind.INVALID_REQUEST, ErrorKind.MODEL_UNAVAILABLE, ErrorKind.AUTH, ErrorKind.FORBIDDEN)
NOT_YET = (202, 404)
"""What stores say of a file that has not reached them, or all of them, although its provider has finished."""


@contextmanager
def open_output(output: Output, connection: Connection, authorize: Authorize = bearer) -> Iterator[Iterator[bytes]]:
    """The chunks of one output, capped by its kind. Raises UpstreamError, also while they are read: EMPTY_RESULT where
    the file is not to be had (gone, refused, too large), else, also of one that is not there yet, what the channel or
    the network said."""
    if output.path is not None:
        with output.path.open("rb", buffering=0) as file:
            yield FileChunks(file, output.path, CHUNK_BYTES)
        return
    if is_data_url(output.url):
        yield iter([_told(output)])
        return
    try:
        with ExitStack() as stack:
            reply = _opened(output, connection, authorize, stack)
            yield plain(reply, MAX_OUTPUT_BYTES[output.kind]).chunks
    except AddressRefused as refused:
        raise UpstreamError(ErrorKind.EMPTY_RESULT, str(refused), code="refused") from refused
    except Failed as failed:
        if failed.reason == "size":
            raise UpstreamError(ErrorKind.EMPTY_RESULT, str(failed), code=failed.reason) from failed
        raise error_kinds.lost(failed, paid=False) from failed


def _told(output: Output) -> bytes:
    """The bytes of a Data URL. Raises UpstreamError."""
    try:
        content = content_of(output.url or "")
    except ValueError as error:
        raise UpstreamError(ErrorKind.EMPTY_RESULT, f"the Data URL cannot be read: {error}", code="refused") from error
    if len(content) > MAX_OUTPUT_BYTES[output.kind]:
        raise UpstreamError(ErrorKind.EMPTY_RESULT, "the Data URL holds too much", code="size")
    return content


def _opened(output: Output, connection: Connection, authorize: Authorize, stack: ExitStack) -> Reply:
    url = fetchable(output.url or "")
    max_bytes = MAX_OUTPUT_BYTES[output.kind]
    deadline = stack.enter_context(Deadline(connection.total_timeout))
    for left in range(MAX_REDIRECTS, -1, -1):
        if not is_own(url, connection):
            limits = Limits(max_bytes=max_bytes, total_seconds=deadline.remaining)
            policy, chosen_by = connection.url_policy, provider(connection.base_url)
            elsewhere = open_url(url, policy=policy, limits=limits, chosen_by=chosen_by, redirects=left, keeps=True)
            return _checked(stack.enter_context(elsewhere))
        message = Message(method="GET", url=url, headers=authorize(connection))
        reply = stack.enter_context(
            exchange(message, http.dialer(connection, deadline, paid=False), max_bytes=max_bytes)
        )
        if reply.status not in REDIRECTS or "Location" not in reply.headers:
            return _checked(reply)
        url = joined(url, reply.headers["Location"])
    raise UpstreamError(ErrorKind.EMPTY_RESULT, f"more than {MAX_REDIRECTS} redirects")


def _checked(reply: Reply) -> Reply:
    if 200 <= reply.status < 300 and reply.status not in NOT_YET:
        return reply
    raise UpstreamError(_kind_of(reply.status), f"the result answers HTTP {reply.status}", http_status=reply.status)


def _kind_of(status: int) -> ErrorKind:
    """A signed address that has run out answers 401 or 403, and 410 says it plainly."""
    if status in NOT_YET:
        return ErrorKind.TRANSIENT
    kind = error_kinds.by_status(status, paid=False)
    return ErrorKind.EMPTY_RESULT if kind in SAYS_GONE else kind


def is_url(value: object) -> TypeGuard[str]:
    """Whether a provider's value is an address that may be kept and tried, or holds the file itself as a Data URL."""
    return bool(address_of(value)) or is_data_url(value)


def address_of(value: object) -> str:
    """What is fetched for a provider's value; empty for what is no address."""
    try:
        return fetchable(value) if isinstance(value, str) and "://" in value else ""
    except AddressRefused:
        return ""


def is_own(url: str, connection: Connection) -> bool:
    """Whether the URL is of the channel's own origin: scheme, host and port."""
    own = _origin(connection.base_url)
    return own is not None and own == _origin(address_of(url))


def _origin(url: str) -> tuple[str, str, int] | None:
    """None for an authority that parsers read differently: the key would go to another host than the one compared."""
    match = ORIGIN.match(url)
    if match is None:
        return None
    scheme = match[1].lower()
    return scheme, match[2].lower(), int(match[3] or DEFAULT_PORTS[scheme])
