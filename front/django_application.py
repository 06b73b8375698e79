"""Django's WSGI application: the short, buffered requests behind the front in `front/application.py`."""

import os
from typing import Any

from django.core.exceptions import BadRequest
from django.core.handlers.wsgi import WSGIRequest
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


class Request(WSGIRequest):
    """A content type that Django cannot take apart counts as none: it would fail before it can answer an error."""

    def __init__(self, environ: dict[str, Any]) -> None:
        try:
            super().__init__(environ)
        except (ValueError, LookupError, BadRequest):
            super().__init__({**environ, "CONTENT_TYPE": ""})


application = get_wsgi_application()
application.request_class = Request
