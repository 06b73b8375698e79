"""The one door for outbound calls to an address that a user or a provider chose; knows no Django.

`common/urls.py` says what may be reached, `common/outgoing/dial.py` opens connections, `common/outgoing/wire.py` speaks
HTTP over them. This module joins them and follows redirects, each judged like the first address.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import quote, urldefrag, urljoin

from common.outgoing.dial import Deadline, Dialer
from common.outgoing.faults import AddressRefused, Failed
from common.outgoing.lookup import Chooser, Resolve, system_resolve
from common.outgoing.wire import Message, Reply, exchange
from common.urls import LOOPBACK, UrlPolicy, address_problem, problem

__all__ = ["REDIRECTS", "AddressRefused", "Failed", "Limits", "Reply", "UrlPolicy", "fetchable", "joined", "open_url"]

MAX_URL_BYTES = 16 * 1024
REDIRECTS = (301, 302, 303, 307, 308)
ORIGIN = re.compile(r"https?://[^/?]+", re.IGNORECASE | re.ASCII)
TARGET = re.compile(r"[!\"$-\[\]-~]*")  # visible ASCII without backslash and fragment
UNSENDABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters, and halves of characters
UNQUOTED = re.compile(r"[^!-~]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The total time counts from the first name lookup to the last byte, redirects included."""

    max_bytes: int
    total_seconds: float
    connect_seconds: float = 5.0


@contextmanager
def open_url(
    url: str,
    *,
    policy: UrlPolicy,
    limits: Limits,
    chosen_by: Chooser,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
    redirects: int = 0,
    keeps: bool = False,
    resolve: Resolve = system_resolve,
) -> Iterator[Reply]:
    """The reply to one request, its body still to be read; a context manager, so that the connection is closed.

    Each name is looked up once, in the share of `chosen_by`, and refused if any of its addresses is; the connection
    goes to a judged address. With
    `redirects` = 0 a 3xx is a reply like any other, else that many are followed, as GET and without the headers and
    the body. With `keeps` the connection may be one that was dialled for the same policy and chooser a moment ago, and
    is left for the next; only for requests that buy and change nothing. Raises AddressRefused (policy) or Failed, also
    while the chunks are read.
    """
    message = Message(method=method, url=url, headers=headers or {}, body=body)
    judge = partial(address_problem, policy=policy)
    lookup = partial(_resolved, resolve)
    with Deadline(limits.total_seconds) as deadline:
        for left in range(redirects, -1, -1):
            _refuse(message.url, policy)
            dialer = Dialer(
                deadline,
                judge=judge,
                chosen_by=chosen_by,
                connect_seconds=limits.connect_seconds,
                resolve=lookup,
                circle=(policy, chosen_by) if keeps else None,
            )
            with exchange(message, dialer, max_bytes=limits.max_bytes) as reply:
                location = reply.headers.get("Location") if redirects and reply.status in REDIRECTS else None
                if location is None:
                    yield reply
                    return
            if left:
                message = Message(method="GET", url=joined(message.url, location))
        raise Failed(f"more than {redirects} redirects", was_sent=True)


def _refuse(url: str, policy: UrlPolicy) -> None:
    # A provider's signed targets may be longer than what a client may send: the origin is judged, the rest only
    # has to be free of what parsers read differently.
    origin = ORIGIN.match(url)
    if origin is None or len(url) > MAX_URL_BYTES or not TARGET.fullmatch(url, origin.end()):
        raise AddressRefused("the URL is malformed")
    if reason := problem(origin[0], policy):
        raise AddressRefused(f"the URL {reason}")


def _resolved(resolve: Resolve, host: str, port: int) -> Sequence[str]:
    # The one loopback address that submission judges: systems add ::1, which an operator's networks may not admit.
    return [str(LOOPBACK)] if host == "localhost" else resolve(host, port)


def fetchable(url: str) -> str:
    """A provider's address as every HTTP client asks for it: blanks around it and the fragment are left off, other
    blanks and what is not ASCII are percent-encoded as UTF-8. The host stays as it is, to be judged. Raises
    AddressRefused for what is no http or https URL, and for control characters."""
    text = url.strip(" ")
    origin = ORIGIN.match(text)
    if origin is None or UNSENDABLE.search(text):
        raise AddressRefused("the URL is malformed")
    target = text[origin.end() :].partition("#")[0]
    return origin[0] + UNQUOTED.sub(lambda match: quote(match[0]), target)


def joined(base: str, location: str) -> str:
    """The address that a redirect leads to, as `fetchable` makes it. Raises AddressRefused."""
    text = _decoded(location)
    if UNSENDABLE.search(text):  # joining would drop some of them
        raise AddressRefused("the redirect is malformed")
    try:
        return fetchable(urldefrag(urljoin(base, text.strip(" "))).url)
    except ValueError as error:
        raise AddressRefused("the redirect is malformed") from error


def _decoded(header: str) -> str:
    """Headers are read as Latin-1; addresses in them are UTF-8, as a rule."""
    try:
        return header.encode("latin-1").decode()
    except UnicodeError:
        return header
