"""The headers that tell a browser what our pages may do: nothing inline, nothing from elsewhere, in nobody's frame.

`nosniff`, `Referrer-Policy` and `Cross-Origin-Opener-Policy` are Django's, by its SecurityMiddleware.
"""

from collections.abc import Callable
from functools import lru_cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.http.asgi import Headers

FROM_US = ("script-src", "style-src", "img-src", "font-src", "media-src", "connect-src", "form-action")
POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{directive} 'self'" for directive in FROM_US),
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
)
STRICT_TRANSPORT = f"max-age={365 * 86_400}"


def _own(base_url: str) -> dict[str, str]:
    """Ours, for pages and API alike."""
    headers = {"Content-Security-Policy": POLICY}
    if base_url.startswith("https://"):
        # Django's own waits for a request that it knows to be secure; behind a proxy it never does.
        headers["Strict-Transport-Security"] = STRICT_TRANSPORT
    return headers


@lru_cache(maxsize=1)
def of_api(base_url: str) -> Headers:
    """What the middleware of pages adds to every response of a service at this address, for responses of the API, which
    pass none of it. A process makes it once."""
    headers = {
        **_own(base_url),
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
    }
    return tuple((name.lower().encode(), value.encode()) for name, value in headers.items())


class PageHeaders:
    """Django middleware, the outermost, so that errors carry the headers too; a view may have set stricter ones."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        for name, value in _own(settings.PUBLIC_BASE_URL).items():
            response.headers.setdefault(name, value)
        return response
