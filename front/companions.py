"""Requests as the official SDKs send them: where they put the key, the headers by which they name a request, and the
paths that nobody serves."""

from urllib.parse import unquote_plus

from common.errors import ApiError
from common.http import dialects
from common.http.asgi import Scope, dialect_of, header, joined
from relay import unserved

KEY_HEADERS = (b"x-api-key", b"x-goog-api-key")


def serves_sdks(scope: Scope) -> bool:
    """Whether SDKs of others call this path."""
    return dialect_of(scope).serves_sdks


def refusal(scope: Scope) -> ApiError | None:
    """What a client reads on a path of the vendors' that is not served; None where Django knows better."""
    return unserved.refusal(scope["path"]) if serves_sdks(scope) else None


def bring_key(scope: Scope) -> None:
    """A key that came in another header of the SDKs', or in Google's query, stands in Authorization, where everything
    looks for it.

    Of several the first counts: Authorization, `x-api-key`, `x-goog-api-key`, `?key=`. So it is with SDKs whose
    environment holds two keys. Two of one kind are no key, as two of Authorization are none.
    """
    queried = _taken_from_query(scope) if dialects.of(scope["path"]) is dialects.GOOGLE else b""
    headers = scope["headers"]
    if header(headers, b"authorization"):
        return
    in_headers = (joined(headers, name).encode("latin-1") for name in KEY_HEADERS)
    if key := next(filter(None, in_headers), queried):
        scope["headers"] = [*headers, (b"authorization", b"Bearer " + key)]


def _taken_from_query(scope: Scope) -> bytes:
    """The value of `key`; it stays in the query no longer, which goes to others."""
    query: bytes = scope["query_string"]
    if not query:
        return b""
    parts = [(part, *part.decode("latin-1").partition("=")) for part in query.split(b"&")]
    scope["query_string"] = b"&".join(part for part, name, _, _ in parts if unquote_plus(name) != "key")
    return ",".join(unquote_plus(value) for _, name, _, value in parts if unquote_plus(name) == "key").encode()
