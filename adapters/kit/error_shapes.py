"""Whether an error body is in the shape in which a protocol speaks: what stands before a provider (a proxy, a load
balancer, a gateway's router) answers in another one, or in none at all."""

from collections.abc import Callable
from typing import Any

from adapters.base import text

Shape = Callable[[Any], bool]
"""Whether a parsed body (None for what is no JSON) is an error in a protocol's own shape."""

# What routers and frameworks put beside an `error` that is a mere text.
OF_ROUTERS = frozenset({"status", "statusCode", "path", "timestamp"})


def error_object(document: Any) -> bool:
    """`{"error": {…}}` with a code, a type or a message in it."""
    error = document.get("error") if isinstance(document, dict) else None
    return isinstance(error, dict) and any(text(error.get(name)) for name in ("code", "type", "message"))


def error_text(document: Any) -> bool:
    """`{"error": "…"}`, whatever else there is but what routers say."""
    has_text = isinstance(document, dict) and isinstance(document.get("error"), str) and bool(document["error"])
    return has_text and not OF_ROUTERS & set(document)


def says(document: Any, *names: str) -> bool:
    """Whether each of these fields of an object has a text or a number."""
    return isinstance(document, dict) and all(text(document.get(name)) for name in names)
