"""Another key's task is as unknown as one that never was, on every path; the front's own paths are in tests/assets."""

import pytest

from tests.rows import make_key
from tests.tasks_api.asking import end, image_task

NOWHERE = "task_00000000000000000000000000"
PATHS = [
    ("GET", "/v1/tasks/{}"),
    ("HEAD", "/v1/tasks/{}"),
    ("GET", "/v1/tasks/{}?wait=1"),
    ("GET", "/v1/tasks/{}/trace"),
    ("HEAD", "/v1/tasks/{}/trace"),
    ("POST", "/v1/tasks/{}/cancel"),
    ("GET", "/v1/tasks/{}/assets/0"),
    ("DELETE", "/v1/tasks/{}/assets"),
    ("GET", "/v1/tasks/{}/deliveries"),
    ("POST", "/v1/tasks/{}/redeliver"),
]


@pytest.fixture(params=["another account", "the same account"])
def stranger(request, api_of, account, other_key):
    return api_of(other_key if request.param == "another account" else make_key(account, "second"))


def test_a_foreign_task_answers_like_an_unknown_one(api, stranger, image_model):
    queued, ended = (api.submitted({**image_task(), "callback_url": "https://example.com/"}) for _ in range(2))
    end(ended, "succeeded")
    for method, path in PATHS:
        unknown = stranger.send(method, path.format(NOWHERE))
        for task_id in (queued, ended):
            foreign = stranger.send(method, path.format(task_id))
            assert (foreign.status_code, foreign.content) == (404, unknown.content), f"{method} {path}"
            assert dict(foreign.headers.items()) == dict(unknown.headers.items()), f"{method} {path}"
    assert [api.task(task_id)["status"] for task_id in (queued, ended)] == ["queued", "succeeded"]


def test_nothing_of_another_key_is_counted_or_listed(api, stranger, image_model):
    end(api.submitted(), "succeeded")
    assert stranger.get("/v1/tasks").json()["data"] == []
    assert stranger.get("/v1/tasks/usage").json()["total"] == {"tasks": 0, "cost": 0}


def test_a_cursor_of_another_key_shows_nothing_of_it(api, stranger, image_model):
    for _ in range(3):
        api.submitted()
    cursor = api.get("/v1/tasks?limit=1").json()["next_cursor"]
    assert stranger.get(f"/v1/tasks?cursor={cursor}").json()["data"] == []
