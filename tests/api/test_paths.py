"""Unknown paths, other methods and strange spellings: JSON in the documented shape, never HTML."""

import pytest

from tasks import switches
from tests.api.asking import Api, refused

UNKNOWN = [
    "/v1",
    "/v1/",
    "/v1/nothing",
    "/v1/tasks/",
    "/v1/tasks//",
    "/v1/tasks/a/b",
    "/v1/tasks/models/",
    "/v1/tasks/quote/x",
    "/v1/tasks/a/cancel/",
    "/v1/tasks/a/trace/",
    "/v1/tasks/a/b/c/d",
    "/v1/tasks/a%0Ab/c",
    "/v1/tasks/%0A/",
    "/v1/tasksx",
    "/v1/tasks%00/a",
    "/v1/tasks/../x",
]
STRANGE_IDS = [
    "unheard-of",
    "task_00000000000000000000000000",
    "task_0000000000000000000000000",
    "task_000000000000000000000000000",
    "TASK_00000000000000000000000000",
    "task_0000000000000000000000000u",
    "task_" + "é" * 26,
    "%00",
    "%FF",
    "%C3%28",
    "%ED%A0%80",
    "a%2Fb",
    "a%0Ab",
    "%25",
    "..",
    "*",
    "null",
    "-1",
    "' OR 1=1 --",
    "events",
    "x" * 50_000,
]


@pytest.mark.parametrize("path", UNKNOWN)
@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_an_unknown_path_is_a_404_in_json(api, method, path):
    assert refused(api.send(method, path)) == (404, "TASK_NOT_FOUND")


def test_an_unknown_path_is_the_same_404_without_a_key(client, db):
    assert refused(Api(client).get("/v1/tasks/a/b/c")) == (404, "TASK_NOT_FOUND")


@pytest.mark.parametrize("task_id", STRANGE_IDS)
def test_a_strange_id_is_an_unknown_task(api, task_id):
    for method, path in (("GET", ""), ("GET", "/trace"), ("POST", "/cancel")):
        assert refused(api.send(method, f"/v1/tasks/{task_id}{path}")) == (404, "TASK_NOT_FOUND")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/v1/tasks", {"GET", "HEAD", "POST"}),
        ("/v1/tasks/models", {"GET", "HEAD"}),
        ("/v1/tasks/usage", {"GET", "HEAD"}),
        ("/v1/tasks/quote", {"POST"}),
        ("/v1/tasks/task_00000000000000000000000000", {"GET", "HEAD"}),
        ("/v1/tasks/task_00000000000000000000000000/cancel", {"POST"}),
        ("/v1/tasks/task_00000000000000000000000000/trace", {"GET", "HEAD"}),
    ],
)
def test_another_method_is_a_405_that_tells_the_allowed_ones(api, path, allowed):
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"} - allowed:
        response = api.send(method, path)
        assert refused(response) == (405, "TASK_METHOD_NOT_ALLOWED"), method
        assert set(response.headers["Allow"].split(", ")) == allowed


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/tasks/models", "/v1/tasks/usage"])
def test_head_is_answered_where_get_is(api, image_model, path):
    head, get = api.send("HEAD", path), api.get(path)
    assert head.status_code == 200
    assert head.headers["Content-Length"] == get.headers["Content-Length"]


@pytest.mark.parametrize("accept", ["text/html", "application/xml", "*/*;q=0", "nonsense", "application/json;indent=4"])
def test_the_answer_is_json_whatever_is_accepted(api, accept):
    assert api.get("/v1/tasks", Accept=accept).headers["Content-Type"] == "application/json"
    assert refused(api.get("/v1/tasks/x", Accept=accept)) == (404, "TASK_NOT_FOUND")


@pytest.mark.parametrize("path", [*UNKNOWN[3:7], "/v1/tasks", "/v1/tasks/models", "/v1/tasks/x", "/v1/tasks/x/cancel"])
def test_a_disabled_api_answers_503_on_every_path(api, client, path):
    switches.disable_api()
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        assert refused(api.send(method, path)) == (503, "TASK_API_DISABLED")
    assert refused(Api(client).get(path)) == (503, "TASK_API_DISABLED")
