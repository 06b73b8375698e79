"""Pages to sign in with a key and to sign out."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import ApiError, RateLimited
from common.http import client_address
from console import access, sessions, sign_in_tries

LONGEST_SECRET = 200


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the first page, which asks for a key without a session."""
    return HttpResponseRedirect(reverse("console:create"))


@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the sign-in form, or open a session. An invalid key gets an error at the field and is not shown again."""
    if request.method != "POST":
        return _form(request, None)
    secret = request.POST.get("key", "").strip()
    try:
        if not secret or len(secret) > LONGEST_SECRET or not secret.isascii():
            return _form(request, "Enter the key exactly as you received it: it begins with dr-task-.")
        sign_in_tries.begin(client_address.place(request), secret)
        token = sessions.begin(secret)
    except ApiError as error:
        return _refused(request, error)
    sessions.end(access.token_of(request))  # one session per browser
    response = HttpResponseRedirect(_next(request))
    response.set_cookie(
        sessions.COOKIE,
        token,
        max_age=settings.SESSION_COOKIE_AGE,
        path=sessions.PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return response


def _refused(request: HttpRequest, error: ApiError) -> HttpResponse:
    """Show what is wrong and what to do about it."""
    is_over = isinstance(error, RateLimited)
    problem = (
        error.message if is_over else f"{error.message} Check that you copied the whole key, or ask for a new one."
    )
    response = _form(request, problem, error.status)
    for name, value in error.headers.items():
        response.headers[name] = value
    return response


def _form(request: HttpRequest, problem: str | None, status: int = 200) -> HttpResponse:
    context = {"problem": problem, "next": request.POST.get("next") or request.GET.get("next", "")}
    response = render(request, "console/sign_in.html", context, status=status)
    response.headers["Cache-Control"] = "no-store"
    return response


def _next(request: HttpRequest) -> str:
    """Get the page to return to, if it belongs to the console."""
    there = request.POST.get("next", "")
    is_ours = url_has_allowed_host_and_scheme(there, allowed_hosts=None) and there.startswith(f"{sessions.PATH}/")
    return there if is_ours else reverse("console:home")


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    sessions.end(access.token_of(request))
    response = HttpResponseRedirect(reverse("console:sign-in"))
    response.delete_cookie(sessions.COOKIE, path=sessions.PATH, samesite="Lax")
    return response
