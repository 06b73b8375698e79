"""Unknown paths, other methods and strange spellings: JSON in the documented shape, never HTML."""

from tasks import switches
from tests.tasks_api.asking import Api, refused

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


def test_an_unknown_path_is_a_404_in_json(api):
    for path in UNKNOWN:
        assert refused(api.get(path)) == (404, "TASK_NOT_FOUND"), path
    for method in ("POST", "OPTIONS", "DELETE"):
        assert refused(api.send(method, UNKNOWN[0])) == (404, "TASK_NOT_FOUND"), method


def test_an_unknown_path_is_the_same_404_without_a_key(client, db):
    assert refused(Api(client).get("/v1/tasks/a/b/c")) == (404, "TASK_NOT_FOUND")


def test_a_strange_id_is_an_unknown_task(api):
    for task_id in STRANGE_IDS:
        for method, path in (("GET", ""), ("GET", "/trace"), ("POST", "/cancel"), ("DELETE", "/assets")):
            response = api.send(method, f"/v1/tasks/{task_id}{path}")
            assert refused(response) == (404, "TASK_NOT_FOUND"), f"{task_id[:40]}{path}"


METHODS = {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"}
ALLOWED = {
    "/v1/tasks": {"GET", "HEAD", "POST"},
    "/v1/tasks/models": {"GET", "HEAD"},
    "/v1/tasks/usage": {"GET", "HEAD"},
    "/v1/tasks/quote": {"POST"},
    "/v1/tasks/task_00000000000000000000000000": {"GET", "HEAD"},
    "/v1/tasks/task_00000000000000000000000000/assets": {"DELETE"},
    "/v1/tasks/task_00000000000000000000000000/cancel": {"POST"},
    "/v1/tasks/task_00000000000000000000000000/trace": {"GET", "HEAD"},
    "/v1/tasks/task_00000000000000000000000000/deliveries": {"GET", "HEAD"},
    "/v1/tasks/task_00000000000000000000000000/redeliver": {"POST"},
}


def test_another_method_is_a_405_that_tells_the_allowed_ones(api):
    for path, allowed in ALLOWED.items():
        for method in METHODS - allowed:
            response = api.send(method, path)
            assert refused(response) == (405, "TASK_METHOD_NOT_ALLOWED"), f"{method} {path}"
            assert set(response.headers["Allow"].split(", ")) == allowed, path


def test_head_is_answered_where_get_is(api, image_model):
    for path in ("/v1/tasks", "/v1/tasks/models", "/v1/tasks/usage"):
        head, get = api.send("HEAD", path), api.get(path)
        assert head.status_code == 200, path
        assert head.headers["Content-Length"] == get.headers["Content-Length"], path


def test_the_answer_is_json_whatever_is_accepted(api):
    for accept in ("text/html", "application/xml", "*/*;q=0", "nonsense", "application/json;indent=4"):
        assert api.get("/v1/tasks", Accept=accept).headers["Content-Type"] == "application/json", accept
        assert refused(api.get("/v1/tasks/x", Accept=accept)) == (404, "TASK_NOT_FOUND"), accept


def test_a_disabled_api_answers_503_on_every_path(api, client):
    switches.disable_api()
    for path in (*UNKNOWN[3:7], "/v1/tasks", "/v1/tasks/models", "/v1/tasks/x", "/v1/tasks/x/cancel"):
        for method in ("GET", "POST", "DELETE", "OPTIONS"):
            assert refused(api.send(method, path)) == (503, "TASK_API_DISABLED"), f"{method} {path}"
        assert refused(Api(client).get(path)) == (503, "TASK_API_DISABLED"), path


def test_a_disabled_api_says_on_every_path_to_come_back_at_the_same_time(api):
    switches.pause(retry_after_seconds=300)
    switches.disable_api()
    paths = ("/v1/tasks", "/v1/tasks/models", "/v1/tasks/x/y/z", "/v1/videos", "/v1/videos/x", "/v1/images/edits")
    assert {api.send("POST", path).headers["Retry-After"] for path in paths} == {"60"}
    assert {api.get(path).headers["Retry-After"] for path in paths} == {"60"}
