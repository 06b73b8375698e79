"""Views that answer largely, repeat what came in, or fall over."""

import logging
import threading
from collections.abc import Iterator
from hashlib import sha256

from django.db import OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from common import swallowed
from common.http.asgi import REPEATED_HEADERS
from config.urls import handler400, handler404, handler500
from config.urls import urlpatterns as real_patterns
from tasks_api import waiting
from tests.front.sizes import LARGE
from tools.children import PATIENCE

released = threading.Event()
waiting.LONGEST_SECONDS = 36_000  # from the first request to Django on


@csrf_exempt
def echo(request: HttpRequest) -> JsonResponse:
    """What Django saw of the request."""
    logging.getLogger("tests.echo").info("seen")
    seen = {
        "length": len(request.body),
        "sha256": sha256(request.body).hexdigest(),
        "announced": request.META["CONTENT_LENGTH"],
        "method": request.method,
        "query": request.META["QUERY_STRING"],
        "repeated": sorted(request.META[REPEATED_HEADERS]),
        "request_id": request.headers["X-Request-Id"],
    }
    return JsonResponse(seen)


def large(request: HttpRequest) -> HttpResponse:
    return HttpResponse(bytes(LARGE), content_type="application/octet-stream")


def held(request: HttpRequest) -> HttpResponse:
    """Keeps its thread until somebody asks for `release`."""
    logging.getLogger("tests.held").info("held")
    return HttpResponse(str(released.wait(PATIENCE)))


def release(request: HttpRequest) -> HttpResponse:
    released.set()
    return HttpResponse()


def crash(request: HttpRequest) -> HttpResponse:
    raise RuntimeError("the view fell over")


def offline(request: HttpRequest) -> HttpResponse:
    raise OperationalError("the database is away")


def swallow(request: HttpRequest) -> HttpResponse:
    """Goes on after an error that nobody hears of."""
    try:
        raise RuntimeError("a part of the view fell over")
    except RuntimeError:
        swallowed.note("tests.front.swallow")
    return HttpResponse()


def streamed(request: HttpRequest) -> StreamingHttpResponse:
    """So many lines (`endless`, or a number), after which the database is away where `falls` is asked for."""
    given = request.GET["lines"]
    return StreamingHttpResponse(lines(None if given == "endless" else int(given), falls="falls" in request.GET))


def lines(count: int | None, *, falls: bool) -> Iterator[str]:
    """Says how many it has made when it is closed."""
    made = 0
    try:
        while made != count:
            made += 1
            yield f"{made:08d}\n"
        if falls:
            raise OperationalError("the database is away")
    finally:
        logging.getLogger("tests.streamed").info("closed after %d lines", made)


urlpatterns = [
    path("streamed", streamed),
    path("v1/echo", echo),
    path("v1/large", large),
    path("v1/held", held),
    path("v1/release", release),
    path("v1/crash", crash),
    path("v1/offline", offline),
    path("v1/swallow", swallow),
    path("crash", crash),
    *real_patterns,
]

__all__ = ["handler400", "handler404", "handler500", "urlpatterns"]
