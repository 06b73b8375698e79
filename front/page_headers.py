"""The headers that tell a browser what our pages may do: nothing inline, nothing from elsewhere, in nobody's frame.

`nosniff`, `Referrer-Policy` and `Cross-Origin-Opener-Policy` are Django's, by its SecurityMiddleware.
"""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

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


def _own() -> dict[str, str]:
    """Ours, for pages and API alike."""
    headers = {"Content-Security-Policy": POLICY}
    if settings.PUBLIC_BASE_URL.startswith("https://"):
        # Django's own waits for a request that it knows to be secure; behind a proxy it never does.
        headers["Strict-Transport-Security"] = STRICT_TRANSPORT
    return headers


def of_api() -> dict[str, str]:
    """What the middleware of pages adds to every response, for responses of the API, which pass none of it."""
    return {
        **_own(),
        "Cross-Origin-Opener-Policy": settings.SECURE_CROSS_ORIGIN_OPENER_POLICY,
        "Referrer-Policy": settings.SECURE_REFERRER_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": settings.X_FRAME_OPTIONS,
    }


class PageHeaders:
    """Django middleware, the outermost, so that errors carry the headers too; a view may have set stricter ones."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        for name, value in _own().items():
            response.headers.setdefault(name, value)
        return response
