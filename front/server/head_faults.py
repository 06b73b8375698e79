"""What is wrong with the head of a request: the status, and words that name the header. Pure.

The words are ours where those of the parser repeat what was sent. Of what was sent they hold the name of a header, as
far as that is one.
"""

import re
from collections.abc import Iterable, Sequence

from gunicorn.asgi import parser

UNREADABLE = "The request cannot be read as HTTP/1.1."
FIELD_BYTES = 64 * 1024
NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?")
DUPLICATE = re.compile(r"Duplicate (\S+) header")

# By the class of what the parser raises: the first that fits. Others, and headers, are below.
TABLE: tuple[tuple[type[Exception], int, str], ...] = (
    (parser.LimitRequestLine, 414, "The request line is longer than 64 KiB."),
    (parser.UnsupportedTransferCoding, 501, "Transfer-Encoding: only chunked is supported."),
    (parser.InvalidRequestMethod, 400, "The method of the request is not valid."),
    (parser.InvalidHTTPVersion, 400, "Only HTTP/1.1 and HTTP/1.0 are spoken here."),
    (parser.InvalidRequestLine, 400, "The request line is not valid."),
    # Of more digits than Python reads as a number.
    (ValueError, 400, "Content-Length: must be a number of bytes."),
)
# By the parser's own words for a header.
HEADERS = {
    "Missing colon in header": "A header has no colon behind its name.",
    "Invalid Content-Length value": "Content-Length: must be a number of bytes.",
    "Content-Length with Transfer-Encoding": "Content-Length: must not be given beside Transfer-Encoding.",
    "Stacked chunked encoding": "Transfer-Encoding: chunked is given more than once.",
    "Invalid Transfer-Encoding after chunked": "Transfer-Encoding: chunked must be the last coding.",
    "Transfer-Encoding does not end with chunked": "Transfer-Encoding: chunked must be the last coding.",
    "Chunked encoding not allowed in HTTP/1.0": "Transfer-Encoding: HTTP/1.0 has none.",
}


class HostFault(parser.ParseError):  # type: ignore[misc]
    """A Host that is not there, or is none; the message is for the client."""


def check_host(version: tuple[int, int], headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raises HostFault for a request of HTTP/1.1 without one (RFC 9112, 3.2), and for one that names no host."""
    host = next((value for name, value in headers if name == b"host"), None)
    if host is None and version >= (1, 1):
        raise HostFault("Host: is required in HTTP/1.1.")
    if host is not None and not HOST.fullmatch(host):
        raise HostFault("Host: must be the name of a host, with its port where it has one.")


def of(raised: Exception, head: bytes) -> tuple[int, str]:
    """Status and message; `head` is what was read of the request, from somewhere in it to the fault or beyond."""
    lines = head.split(b"\r\n")
    match raised:
        case HostFault():
            return 400, str(raised)
        case parser.LimitRequestHeaders():
            return 431, _too_large(str(raised), lines)
        case parser.InvalidHeaderName():
            return 400, _misnamed(str(raised))
        case parser.InvalidHeader():
            return 400, _invalid(str(raised), lines)
    return next(((row[1], row[2]) for row in TABLE if isinstance(raised, row[0])), (400, UNREADABLE))


def _too_large(said: str, lines: Sequence[bytes]) -> str:
    if said == "Too many headers":
        return "The headers are more than 100."
    long = next((name for line in lines if len(line) > FIELD_BYTES - 2 and (name := _name(line))), None)
    return f"{long}: is over 64 KiB." if long else "A header is over 64 KiB, or all of them are over 256 KiB."


def _misnamed(name: str) -> str:
    begin = NAME.match(name.encode("latin-1", "replace"))
    shown = f": it begins with {begin[0].decode()}" if begin else ""
    return f"The name of a header is not valid{shown}."


def _invalid(said: str, lines: Sequence[bytes]) -> str:
    if repeated := DUPLICATE.fullmatch(said):
        return f"{repeated[1].title()}: given more than once."
    if said in HEADERS:
        return HEADERS[said]
    name = next((_name(line) for line in lines if CONTROLS.search(line.partition(b":")[2])), None)
    return f"{name}: must not contain control characters." if name else f"The headers are not valid: {said}."


def _name(line: bytes) -> str | None:
    found = NAME.match(line)
    return found[0].decode() if found else None
