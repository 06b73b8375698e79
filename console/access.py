"""Session check and rendering of every console page; errors become pages, or JSON for scripts."""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from common.errors import ApiError, AuthenticationError, ScopeRequired
from common.http import rates
from console import error_words, navigation, sessions
from console.sessions import Visitor

Given = ParamSpec("Given")
View = Callable[Concatenate[HttpRequest, Visitor, Given], HttpResponseBase]
Guarded = Callable[Concatenate[HttpRequest, Given], HttpResponseBase]


def token_of(request: HttpRequest) -> str:
    return request.COOKIES.get(sessions.COOKIE, "")


def require_session(view: "View[Given]") -> "Guarded[Given]":
    """Decorate a view that needs a session; an ApiError that it raises becomes a page, or JSON for a script."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs) -> HttpResponseBase:
        visitor = None
        try:
            visitor = sessions.authenticate(token_of(request))
            rates.check("read", visitor.caller.key_id)
            response: HttpResponseBase = view(request, visitor, *args, **kwargs)
        except ApiError as error:
            response = refusal(request, visitor, error)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return guarded


def render_page(
    request: HttpRequest, visitor: Visitor, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """Render a page of the console with its navigation and the signed-in key."""
    shared = {"visitor": visitor, "places": list(navigation.places(request))}
    return render(request, template, {**shared, **context}, status=status)


def refusal(request: HttpRequest, visitor: Visitor | None, error: ApiError) -> HttpResponse:
    """Answer an error as a page or JSON; without a session, redirect to the sign-in and back afterwards."""
    if wants_json(request):
        shown = {"type": error.type, "message": error.message, "param": error.param}
        return JsonResponse({"error": shown}, status=error.status, headers=error.headers)
    if isinstance(error, AuthenticationError | ScopeRequired) or visitor is None:
        there = request.get_full_path() if request.method in ("GET", "HEAD") else reverse("console:home")
        return HttpResponseRedirect(f"{reverse('console:sign-in')}?{urlencode({'next': there})}")
    told = {"error": error, "advice": error_words.explain_request_error(error.type)}
    response = render_page(request, visitor, "console/error.html", told, status=error.status)
    for name, value in error.headers.items():
        response.headers[name] = value
    return response


def wants_json(request: HttpRequest) -> bool:
    """Check whether one of our scripts sent the request."""
    return request.headers.get("Accept", "").startswith("application/json")
