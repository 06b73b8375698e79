"""The door of every page: who is signed in sees it, anybody else is asked for a key; a refusal is told in words."""

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


def signed_in(view: "View[Given]") -> "Guarded[Given]":
    """A view for visitors. What it raises as an ApiError becomes a page, or JSON for a script."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: Given.args, **kwargs: Given.kwargs) -> HttpResponseBase:
        visitor = None
        try:
            visitor = sessions.admit(token_of(request))
            rates.check("read", visitor.caller.key_id)
            response: HttpResponseBase = view(request, visitor, *args, **kwargs)
        except ApiError as error:
            response = refusal(request, visitor, error)
        response.headers.setdefault("Cache-Control", "no-store")
        return response

    return guarded


def show(
    request: HttpRequest, visitor: Visitor, template: str, context: Mapping[str, Any], status: int = 200
) -> HttpResponse:
    """A page of the console, with the navigation and who is signed in."""
    shared = {"visitor": visitor, "places": list(navigation.places(request))}
    return render(request, template, {**shared, **context}, status=status)


def refusal(request: HttpRequest, visitor: Visitor | None, error: ApiError) -> HttpResponse:
    """What happened and why. Who is not signed in any more is asked for a key, and comes back afterwards."""
    if wants_json(request):
        shown = {"type": error.type, "message": error.message, "param": error.param}
        return JsonResponse({"error": shown}, status=error.status, headers=error.headers)
    if isinstance(error, AuthenticationError | ScopeRequired) or visitor is None:
        there = request.get_full_path() if request.method in ("GET", "HEAD") else reverse("console:home")
        return HttpResponseRedirect(f"{reverse('console:sign-in')}?{urlencode({'next': there})}")
    told = {"error": error, "advice": error_words.of_request(error.type)}
    response = show(request, visitor, "console/error.html", told, status=error.status)
    for name, value in error.headers.items():
        response.headers[name] = value
    return response


def wants_json(request: HttpRequest) -> bool:
    """Whether a script of ours asks."""
    return request.headers.get("Accept", "").startswith("application/json")
