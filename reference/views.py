"""Serves the document as pages, and as YAML and JSON."""

import hashlib
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import condition, require_safe

from reference import document, snippets
from reference.sections import sections

View = Callable[..., HttpResponse]
PROGRAMS = (("curl", "first.sh.txt"), ("Python", "first.py.txt"), ("JavaScript", "first.mjs.txt"))
RECEIVERS = (("Python", "verify.py.txt"), ("JavaScript", "verify.mjs.txt"))


def served(text: Callable[[], str], content_type: str) -> View:
    """Returns a view of a text that changes only with the version; browsers revalidate it."""

    def etag(request: HttpRequest) -> str:
        return f'"{hashlib.sha256(text().encode()).hexdigest()[:32]}"'

    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(text(), content_type=content_type, headers={"Cache-Control": "no-cache"})

    return require_safe(condition(etag_func=etag)(view))


openapi_yaml = served(document.as_yaml, "application/yaml; charset=utf-8")
openapi_json = served(document.as_json, "application/json")


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Shows what the service is, with a first request."""
    whole = document.document()
    context = {
        "is_overview": True,
        "info": whole["info"],
        "schemes": whole["components"]["securitySchemes"],
        "errors": whole["x-errors"],
        "programs": programs(PROGRAMS),
        "base_url": settings.PUBLIC_BASE_URL,
    }
    return page(request, "reference/overview.html", context)


@require_safe
def section(request: HttpRequest, place: str) -> HttpResponse:
    """Shows a tag's operations by its slug; any other address gets a page that says where to look."""
    found = next((each for each in sections() if each.slug == place.rstrip("/")), None)
    if found is None:
        return page(request, "reference/missing.html", {"place": place}, status=404)
    if not place.endswith("/"):
        return redirect("reference:section", place=f"{found.slug}/")
    receivers = programs(RECEIVERS) if found.has_webhooks else ()
    return page(request, "reference/section.html", {"section": found, "receivers": receivers})


def programs(files: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Reads the text of each program by its language."""
    return tuple((language, snippets.program(name)) for language, name in files)


def page(request: HttpRequest, template: str, context: dict[str, Any], status: int = 200) -> HttpResponse:
    return render(request, template, {"sections": sections(), **context}, status=status)
