"""`GET /v1/videos/{id}/content`: the film of a completed video, or its picture."""

import json

import pytest

from front.application import own_endpoint
from tasks.models import Asset, Task
from tasks_api import assets
from tests.storage.samples import film, picture
from tests.tasks_api.downloads.asking import ask
from tests.tasks_api.videos.asking import make_film, make_video, video_id

pytestmark = pytest.mark.django_db(transaction=True)


def get(key, task, query="", *, method="GET", **headers):
    named = {"Authorization": f"Bearer {key.secret}", **headers}
    return ask(f"/v1/videos/{video_id(task)}/content{query}", method=method, headers=named)


def refused(response):
    error = json.loads(response.body)["error"]
    assert sorted(error) == ["code", "message", "param", "type"]
    return response.status, error["type"], error["param"]


@pytest.mark.usefixtures("any_storage")
def test_the_film_comes_whole_and_by_ranges(key):
    task = make_film(key, with_picture=True)
    for query in ("", "?variant=video"):
        whole = get(key, task, query)
        assert (whole.status, whole.body, whole.headers["content-type"]) == (200, film(), "video/mp4")
    part = get(key, task, Range="bytes=10-19")
    assert (part.status, part.body) == (206, film()[10:20])
    head = get(key, task, method="HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(film())))


def test_a_thumbnail_is_the_picture_where_there_is_one(key, folder):
    shown = get(key, make_film(key, with_picture=True), "?variant=thumbnail")
    assert (shown.status, shown.body, shown.headers["content-type"]) == (200, picture("PNG"), "image/png")
    assert refused(get(key, make_film(key), "?variant=thumbnail")) == (404, "TASK_NOT_FOUND", None)
    assert refused(get(key, make_film(key), "?variant=spritesheet")) == (404, "TASK_NOT_FOUND", None)


def test_what_is_not_there_is_404(key, other_key, folder):
    task = make_film(key)
    picture_task = make_film(key, modality="image")
    for response in (get(other_key, task), get(key, picture_task), get(key, "x"), get(key, make_film(key).pk[:-1])):
        assert refused(response) == (404, "TASK_NOT_FOUND", None)
    for status in ("queued", "running", "failed", "timeout", "canceled"):
        assert refused(get(key, make_video(key, status))) == (404, "TASK_NOT_FOUND", None), status
    Task.objects.filter(pk=task.pk).update(status="failed")
    assert get(key, task).status == 404


def test_a_deleted_film_is_410(api, key, folder):
    task = make_film(key)
    assert api.send("DELETE", f"/v1/videos/{video_id(task)}").status_code == 200
    assert refused(get(key, task)) == (410, "TASK_ASSET_EXPIRED", None)
    assert Asset.objects.get().deleted_at


def test_what_is_wrong_is_refused_in_openais_shape(key, folder):
    task = make_film(key)
    assert refused(get(key, task, "?variant=poster")) == (400, "TASK_INVALID_REQUEST", "variant")
    assert refused(get(key, task, "?size=1")) == (400, "TASK_INVALID_REQUEST", "size")
    assert refused(get(key, task, method="POST")) == (405, "TASK_METHOD_NOT_ALLOWED", None)
    assert refused(get(key, task, Range="bytes=9999999-"))[:2] == (416, "TASK_RANGE_NOT_SATISFIABLE")
    assert ask(f"/v1/videos/{video_id(task)}/content").status == 401


def test_it_is_sent_on_the_asynchronous_side():
    assert own_endpoint("/v1/videos/video_x/content") is assets.application
    assert own_endpoint("/v1/videos/video_x") is None
