"""Requests as the official SDKs send them: where they put the key, and the headers by which they name a request."""

from common.asgi import Scope, dialect_of, header, joined

KEY_HEADERS = (b"x-api-key", b"x-goog-api-key")


def serves_sdks(scope: Scope) -> bool:
    """Whether SDKs of others call this path."""
    return dialect_of(scope).serves_sdks


def bring_key(scope: Scope) -> None:
    """A key that came in another header of the SDKs' stands in Authorization, where everything looks for it. Two of one
    header are no key, as two of Authorization are none."""
    headers = scope["headers"]
    if header(headers, b"authorization"):
        return
    if key := next(filter(None, (joined(headers, name) for name in KEY_HEADERS)), ""):
        scope["headers"] = [*headers, (b"authorization", b"Bearer " + key.encode("latin-1"))]
