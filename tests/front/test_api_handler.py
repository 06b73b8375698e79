"""The Task API's lean way through Django gives the answers of the long one, to the byte."""

import contextvars
import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from django.core import signals
from django.db import close_old_connections

from common.http import front_body
from front import django_application, task_api
from front.task_api import ApiCall
from tests.rows import make_task
from tests.scopes import scope

pytestmark = pytest.mark.django_db

UNKNOWN = "/v1/tasks/task_00000000000000000000000000"
ASKED = [
    *[(method, path) for method in ("GET", "HEAD", "OPTIONS", "POST", "PUT") for path in ("/v1/tasks", UNKNOWN)],
    *[("GET", path) for path in ("/v1/", "/v1/nothing", "/v1/tasks/", "/v1/tasks/x/y", "/v1/tasks/é", "/v1//tasks")],
    *[("POST", "/v1/nothing"), ("POST", "/v1/tasks/quote"), ("DELETE", f"{UNKNOWN}/cancel"), ("GET", "/v1/tasks?a=1")],
]
SENT: list[dict[str, str]] = [
    {},
    {"accept": "application/json; indent=4"},
    {"accept": "text/html, */*;q=0.1"},
    {"content_type": "multipart/form-data; boundary=é", "x_forwarded_proto": "https"},
]


@pytest.fixture(autouse=True)
def kept_connection() -> Iterator[None]:
    """The test's transaction is on it; Django's own client does the same."""
    signals.request_started.disconnect(close_old_connections)
    signals.request_finished.disconnect(close_old_connections)
    yield
    signals.request_started.connect(close_old_connections)
    signals.request_finished.connect(close_old_connections)


def of_pages(request: Any) -> tuple[Any, ...]:
    """Status, headers and body, as the handler of pages answers."""
    started: list[Any] = []
    with closing(front_body.empty()) as nothing:
        chunks = django_application.application(
            django_application.environ_of(request, nothing), lambda *given: started.append(given)
        )
        body = b"".join(chunks)
        chunks.close()
    status, headers = started[-1]
    return int(status[:3]), sorted((name.lower(), value) for name, value in headers), body


def of_the_api(request: Any) -> tuple[Any, ...]:
    """Status, headers and body, as the front answers requests of the API."""
    with closing(front_body.empty()) as nothing:
        call = ApiCall(scope=request, body=nothing, context=contextvars.copy_context())
        answer = task_api.answer_of(task_api.view(call, None))
    headers = sorted((name.decode(), value.decode("latin-1")) for name, value in answer.headers)
    return answer.status, headers, answer.body


def uncompressed(status: int, headers: list[tuple[str, str]], body: bytes) -> tuple[Any, ...]:
    """Pages may be compressed, and say so; none of these answers asks for it, nor is one of the API ever."""
    return status, [header for header in headers if header != ("vary", "Accept-Encoding")], body


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000", "https://ours.example"])
@pytest.mark.parametrize("headers", SENT, ids=range(len(SENT)))
@pytest.mark.parametrize("is_known", [True, False])
def test_every_answer_is_the_same_on_both_ways(key, settings, is_known, headers, url):
    settings.PUBLIC_BASE_URL = url
    own = {"authorization": f"Bearer {key.secret}"} if is_known else {}
    for method, path in [*ASKED, ("GET", f"/v1/tasks/{make_task(key).id}")]:
        request = scope(method, *path.split("?"), **headers, **own)
        long, lean = of_pages(request), of_the_api(request)
        assert lean == uncompressed(*long), (method, path)
        assert lean[0] < 500, (method, path)


def test_cookies_of_the_admin_mean_nothing_to_the_api():
    request = scope("GET", "/v1/tasks", cookie="sessionid=x; csrftoken=x; messages=x")
    _, headers, body = of_the_api(request)
    assert not {"set-cookie", "vary"} & {name for name, _ in headers}
    assert json.loads(body)["error"]["type"] == "authentication_error"
