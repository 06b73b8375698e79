"""`/v1/videos` is for Task keys for which an operator has opened it."""

import pytest

from accounts.models import ApiKey
from tasks.models import Task
from tests.reference.asking import ask
from tests.rows import make_key
from tests.tasks_api.videos.asking import make_video, refusal, video_id

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = {"model": "comet-video", "prompt": "a fox runs"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")


@pytest.fixture
def closed_key(account):
    return make_key(account, "closed", videos_api=False)


def paths(key):
    video = f"/v1/videos/{video_id(make_video(key))}"
    return "/v1/videos", video, f"{video}/content"


def test_a_key_is_made_without_it():
    assert ApiKey().videos_api is False


@pytest.mark.parametrize("method", METHODS)
def test_every_path_is_out_of_scope_for_other_task_keys(closed_key, video_model, method):
    for path in paths(closed_key):
        answer = ask(method, path, key=closed_key, body=ASKED if method == "POST" else b"")
        assert answer.status_code == 403
        if method != "HEAD":
            assert answer.document["error"]["code"] == "TASK_SCOPE_REQUIRED"
            assert sorted(answer.document["error"]) == ["code", "message", "param", "type"]
            assert "/v1/videos" in answer.document["error"]["message"]


def test_nothing_is_bought_and_nothing_is_said_of_the_request(closed_key, video_model):
    answers = [
        ask("POST", "/v1/videos", key=closed_key, body=body, **headers)
        for body, headers in ((ASKED, {"idempotency_key": "\x7f"}), (b"[", {}), (b"[" * 100_000, {}))
    ]
    assert [answer.refusal for answer in answers] == [(403, "TASK_SCOPE_REQUIRED")] * 3
    assert not Task.objects.exists()


def test_the_task_api_stays_open_to_such_a_key(closed_key, video_model):
    task = make_video(closed_key)
    assert ask("GET", f"/v1/tasks/{task.pk}", key=closed_key).status_code == 200


def test_what_an_operator_opens_holds_from_the_next_request_on(api_of, closed_key, video_model):
    api = api_of(closed_key)
    assert refusal(api.get("/v1/videos"))[:2] == (403, "TASK_SCOPE_REQUIRED")
    ApiKey.objects.filter(pk=closed_key.id).update(videos_api=True)
    assert api.get("/v1/videos").status_code == 200
    assert api.send("POST", "/v1/videos", ASKED).status_code == 200
