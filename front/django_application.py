"""Django's WSGI applications, behind the front in `front/application.py`: one for pages, a lean one for the API."""

import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any, cast

from a2wsgi.wsgi import build_environ
from django.core.exceptions import BadRequest
from django.core.handlers.base import BaseHandler
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse

from common.http.asgi import REPEATED_HEADERS, Answer, Headers, Scope, joined
from common.http.front_body import Body

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


BODILESS = (204, 304)


class Request(WSGIRequest):
    """Django's request. A content type that Django cannot take apart counts as none: it would fail before it can answer
    an error."""

    auth_result: Any = None  # AuthResult, where the front has authenticated it
    tasks_read: Mapping[tuple[int, str], Any] = {}  # what `front/task_api.py` has read for its view

    def __init__(self, environ: dict[str, Any]) -> None:
        try:
            super().__init__(environ)
        except (ValueError, LookupError, BadRequest):
            super().__init__({**environ, "CONTENT_TYPE": ""})

    def close(self) -> None:
        """Its answer is made. A view and its answer refer to each other, and so to this: without its body."""
        super().close()
        self._body, self._stream = b"", BytesIO()


class ApiHandler(BaseHandler):
    """Django's handler of requests, without middleware: the API has no sessions, forms and pages, and the headers of
    its answers are in `front/page_headers.py`. A response that waits for its submission is not rendered yet."""

    def load_middleware(self: Any, is_async: bool = False) -> None:
        self._middleware_chain = convert_exception_to_response(self._get_response)

    def _get_response(self, request: HttpRequest) -> HttpResponse:
        view, arguments, options = self.resolve_request(request)
        response: HttpResponse = view(request, *arguments, **options)
        if isinstance(response, SimpleTemplateResponse) and not isinstance(response, PendingSubmission):
            response.render()
        return response


application = get_wsgi_application()
application.request_class = Request

from tasks_api.responses import PendingSubmission  # noqa: E402  # once the apps are loaded

api = ApiHandler()
api.load_middleware()


def respond_of_api(
    scope: Scope, body: Body, auth_result: Any, tasks_read: Mapping[tuple[int, str], Any]
) -> HttpResponse:
    """Call the view of a request of the API, with what the front has found for it."""
    request = Request(environ_of(scope, body))
    request.auth_result, request.tasks_read = auth_result, tasks_read
    response = cast(HttpResponse, api.get_response(request))
    request.close()
    return response


def environ_of(scope: Scope, body: Body) -> dict[str, Any]:
    """WSGI's view of the request, with the length of its body however that came in."""
    environ: dict[str, Any] = dict(build_environ(scope, body.file))  # type: ignore[arg-type]
    environ.pop("HTTP_TRANSFER_ENCODING", None)
    if "HTTP_X_FORWARDED_FOR" in environ:  # WSGI has joined one with underscores to it, which no proxy has written
        environ["HTTP_X_FORWARDED_FOR"] = joined(scope["headers"], b"x-forwarded-for")
    # The lower-case names of the headers that came more than once; WSGI takes an underscore for a hyphen.
    names = Counter([name.decode("latin-1").replace("_", "-") for name, _ in scope["headers"]])
    environ[REPEATED_HEADERS] = frozenset([name for name, count in names.items() if count > 1])
    return {**environ, "wsgi.input": body.file, "wsgi.errors": sys.stderr, "CONTENT_LENGTH": str(body.size)}


def answer_of(status: int, headers: Iterable[tuple[str, str]], content: bytes, *, more: Headers = ()) -> Answer:
    """An answer of Django's, with more headers."""
    own = (*raw(headers), *more)
    if status in BODILESS:
        return Answer(status=status, headers=own, body=b"")
    if not any(name == b"content-length" for name, _ in own):
        own += ((b"content-length", str(len(content)).encode()),)
    return Answer(status=status, headers=own, body=content)


def raw(headers: Iterable[tuple[str, str]]) -> Headers:
    return tuple([(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers])
