"""Turns an exception into the documented JSON: for DRF's views, for Django's own errors and for the front."""

import json
import logging
import sys
from collections.abc import Mapping
from typing import Any

from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import UnreadablePostError
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response

from common import errors, tracebacks
from common.http import dialects
from common.http.asgi import is_below
from console import access
from tasks.intake.lost_commits import OutcomeUnknown

PAGES = ("/admin", "/console", "/docs")
logger = logging.getLogger("darkroom.errors")

DOCUMENTED: tuple[tuple[type[Exception], type[errors.ApiError], str], ...] = (
    (Http404, errors.TaskNotFound, "Unknown path."),
    (exceptions.NotFound, errors.TaskNotFound, "Unknown path."),
    (exceptions.MethodNotAllowed, errors.MethodNotAllowed, "This path does not take that method."),
    (exceptions.UnsupportedMediaType, errors.UnsupportedMediaType, "Content-Type must be application/json."),
    (exceptions.NotAuthenticated, errors.AuthenticationError, ""),
    (exceptions.AuthenticationFailed, errors.AuthenticationError, ""),
    (exceptions.PermissionDenied, errors.ScopeRequired, ""),
    (exceptions.Throttled, errors.RateLimited, "Too many requests."),
    (exceptions.NotAcceptable, errors.InvalidRequest, "Accept: only application/json is produced."),
    (exceptions.ParseError, errors.InvalidRequest, "The request body cannot be read."),
    (RequestDataTooBig, errors.RequestTooLarge, "The request body is too large."),
    (UnreadablePostError, errors.InvalidRequest, "The request body did not arrive whole."),
    (TooManyFieldsSent, errors.InvalidRequest, "The query has too many parameters."),
    (TooManyFilesSent, errors.InvalidRequest, "The form has too many files."),
    (MultiPartParserError, errors.InvalidRequest, "The form cannot be read."),
    (DisallowedHost, errors.InvalidRequest, "Host: is not a name of this service."),
    (SuspiciousOperation, errors.InvalidRequest, "The request cannot be served: its headers are not accepted."),
    (BadRequest, errors.InvalidRequest, "The request cannot be read."),
    (OperationalError, errors.ServiceUnavailable, ""),
    (InterfaceError, errors.ServiceUnavailable, ""),
)


def documented(raised: BaseException) -> errors.ApiError:
    """The error a client sees in its place: itself, its documented counterpart, else TASK_INTERNAL_ERROR."""
    if isinstance(raised, errors.ApiError):
        return raised
    for kind, error, message in DOCUMENTED:
        if isinstance(raised, kind):
            in_doubt = isinstance(raised, OutcomeUnknown)
            return error(message, headers=_headers(raised), may_have_cost=in_doubt)
    return errors.InternalError()


def _headers(raised: Exception) -> dict[str, str]:
    if isinstance(raised, exceptions.AuthenticationFailed | exceptions.NotAuthenticated):
        return {"WWW-Authenticate": "Bearer"}
    return {}


def told(raised: BaseException) -> errors.ApiError:
    """The error that its client is told, of which our own faults are reported. Nothing of the request hangs on it."""
    error = documented(raised)
    report(raised, error)
    tracebacks.let_go(raised)
    return error


def report(raised: BaseException, error: errors.ApiError) -> None:
    """Log our own faults once: a traceback where we do not know what it is, a line where the database is away."""
    if isinstance(error, errors.InternalError):
        logger.error("unhandled %s", type(raised).__name__, exc_info=raised)
    elif isinstance(raised, OperationalError | InterfaceError):
        logger.error("database unavailable: %s", raised)


class DatabaseAway(Response):
    """The answer of a view that could not ask the database."""


def handle(exc: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's EXCEPTION_HANDLER."""
    error = told(exc)
    dialect = dialects.of(context["request"].path)
    headers = dialects.headers(error, dialect)
    if isinstance(error, errors.MethodNotAllowed):
        headers = {"Allow": ", ".join(context["view"].allowed_methods), **headers}
    kind = DatabaseAway if isinstance(exc, OperationalError | InterfaceError) else Response
    return kind(dialect.body(error), status=dialect.status(error), headers=headers)


def is_page(request: HttpRequest) -> bool:
    """Whether a person reads the answer; scripts of our pages, and every other path, known or not, speak JSON."""
    return is_of_pages(request.path_info) and not access.wants_json(request)


def is_of_pages(path: str) -> bool:
    return any(is_below(path, root) for root in PAGES)


def respond(request: HttpRequest, error: errors.ApiError) -> HttpResponse:
    dialect = dialects.of(request.path)
    content, headers = json.dumps(dialect.body(error)), dialects.headers(error, dialect)
    return HttpResponse(content, status=dialect.status(error), content_type="application/json", headers=headers)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404."""
    return defaults.page_not_found(request, exception) if is_page(request) else respond(request, documented(exception))


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400."""
    return defaults.bad_request(request, exception) if is_page(request) else respond(request, documented(exception))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the exception is being handled; Django has logged it."""
    error = documented(sys.exc_info()[1] or errors.InternalError())
    if not is_page(request):
        return respond(request, error)
    page = defaults.server_error(request)
    if isinstance(error, errors.ServiceUnavailable):
        page.status_code = error.status
        page["Retry-After"] = str(dialects.RETRY_AFTER_SECONDS)
    return page
