"""What becomes of an exception: the documented JSON, and a log line only for our own faults."""

import logging
import os
import subprocess
import sys

from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.db import InterfaceError, OperationalError
from django.http import Http404
from django.test import RequestFactory
from rest_framework import exceptions
from rest_framework.views import APIView

from common import errors
from front import error_responses
from tools.children import PATIENCE
from tools.stack import ROOT

ASK_IN_DEVELOPMENT = """
import django
django.setup()
from django.test import Client
for path, host in (("/v1/nothing", "localhost"), ("/v1/tasks", "elsewhere.example")):
    print(Client().get(path, headers={"Host": host})["Content-Type"])
"""


class SomeView(APIView):
    def get(self, request):
        raise NotImplementedError


def answer_to(raised: Exception):
    return error_responses.handle(raised, {"view": SomeView(), "request": RequestFactory().get("/v1/tasks")})


DOCUMENTED = [
    (errors.InsufficientBalance("no money"), 403, "TASK_INSUFFICIENT_BALANCE"),
    (Http404(), 404, "TASK_NOT_FOUND"),
    (exceptions.NotFound(), 404, "TASK_NOT_FOUND"),
    (exceptions.MethodNotAllowed("PUT"), 405, "TASK_METHOD_NOT_ALLOWED"),
    (exceptions.UnsupportedMediaType("text/plain"), 415, "TASK_UNSUPPORTED_MEDIA_TYPE"),
    (exceptions.ParseError(), 400, "TASK_INVALID_REQUEST"),
    (exceptions.NotAuthenticated(), 401, "authentication_error"),
    (RequestDataTooBig(), 413, "TASK_REQUEST_TOO_LARGE"),
    (SuspiciousOperation("odd"), 400, "TASK_INVALID_REQUEST"),
    (OperationalError("gone"), 503, "TASK_SERVICE_UNAVAILABLE"),
    (InterfaceError("gone"), 503, "TASK_SERVICE_UNAVAILABLE"),
    (ZeroDivisionError(), 500, "TASK_INTERNAL_ERROR"),
]


def test_every_exception_has_its_documented_answer():
    for raised, status, kind in DOCUMENTED:
        response = answer_to(raised)
        assert (response.status_code, response.data["error"]["type"]) == (status, kind), raised
        assert response.data["error"]["message"], raised


def test_a_method_not_allowed_says_which_are():
    assert answer_to(exceptions.MethodNotAllowed("PUT"))["Allow"] == "GET, OPTIONS"


def test_429_and_503_say_when_to_come_back():
    for error in (errors.QueueLimitExceeded(), errors.PricingUnavailable(), OperationalError()):
        assert int(answer_to(error)["Retry-After"]) > 0, error


def test_an_errors_own_retry_after_stays():
    assert answer_to(errors.ApiPaused(headers={"Retry-After": "77"}))["Retry-After"] == "77"


def test_a_fault_of_ours_is_logged_once_with_its_traceback(caplog):
    response = answer_to(ZeroDivisionError("secret detail"))
    assert "secret detail" not in str(response.data)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.exc_info


def test_what_a_client_sends_is_not_logged(caplog):
    for raised in (errors.InvalidRequest("params.n"), Http404(), exceptions.ParseError()):
        answer_to(raised)
    assert caplog.records == []


def test_unknown_paths_are_json():
    for path in ("/", "/v1/tasks/x", "/administrator"):
        response = error_responses.not_found(RequestFactory().get(path), Http404())
        assert (response.status_code, response["Content-Type"]) == (404, "application/json"), path


def test_unknown_paths_of_the_admin_are_pages():
    assert error_responses.not_found(RequestFactory().get("/admin/x"), Http404())["Content-Type"].startswith(
        "text/html"
    )


def test_errors_are_json_in_development_too():
    answer = subprocess.run(
        [sys.executable, "-c", ASK_IN_DEVELOPMENT],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings", "DEBUG": "true"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert answer.stdout.split() == ["application/json"] * 2
