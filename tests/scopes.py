"""ASGI scopes as a server makes them."""

from common.http.asgi import Scope


def scope(method: str, path: str, query: str = "", **headers: str) -> Scope:
    given = {"host": "testserver", **{name.replace("_", "-"): value for name, value in headers.items()}}
    raw = [(name.encode(), value.encode()) for name, value in given.items()]
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": raw,
    }
