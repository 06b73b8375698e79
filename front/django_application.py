"""Django's WSGI applications, behind the front in `front/application.py`: one for pages, a lean one for the API."""

import os
from io import BytesIO
from typing import Any

from django.conf import settings
from django.core.exceptions import BadRequest
from django.core.handlers.exception import convert_exception_to_response
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.core.wsgi import get_wsgi_application
from django.utils.module_loading import import_string

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Request(WSGIRequest):
    """A content type that Django cannot take apart counts as none: it would fail before it can answer an error."""

    def __init__(self, environ: dict[str, Any]) -> None:
        try:
            super().__init__(environ)
        except (ValueError, LookupError, BadRequest):
            super().__init__({**environ, "CONTENT_TYPE": ""})

    def close(self) -> None:
        """Its answer is made. A view and its answer refer to each other, and so to this: without its body."""
        super().close()
        self._body, self._stream = b"", BytesIO()


class ApiHandler(WSGIHandler):
    """Django's, with API_MIDDLEWARE alone, which looks at nothing but request and answer."""

    request_class = Request

    def load_middleware(self: Any, is_async: bool = False) -> None:
        for hooks in ("_view_middleware", "_template_response_middleware", "_exception_middleware"):
            setattr(self, hooks, [])
        handler = convert_exception_to_response(self._get_response)
        for path in reversed(settings.API_MIDDLEWARE):
            handler = convert_exception_to_response(import_string(path)(handler))
        self._middleware_chain = handler


application = get_wsgi_application()
application.request_class = Request
api = ApiHandler()
