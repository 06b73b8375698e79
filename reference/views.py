"""Serves the document, as YAML and as JSON."""

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

from reference import document

View = Callable[..., HttpResponse]


def served(text: Callable[[], str], content_type: str) -> View:
    """A view of a text that changes with the version only: browsers ask whether theirs is still true."""

    def etag(request: HttpRequest) -> str:
        return f'"{hashlib.sha256(text().encode()).hexdigest()[:32]}"'

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(text(), content_type=content_type, headers={"Cache-Control": "no-cache"})

    return require_safe(condition(etag_func=etag)(view))


openapi_yaml = served(document.as_yaml, "application/yaml; charset=utf-8")
openapi_json = served(document.as_json, "application/json")
