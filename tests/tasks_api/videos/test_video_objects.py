"""GET /v1/videos/{id}: the object of OpenAI's Videos API, of every video task of the key."""

from datetime import UTC, datetime, timedelta

import pytest

from tasks.models import Asset, Task, TaskPayload
from tasks_api.openai import video_objects
from tests.rows import make_key
from tests.tasks_api.asking import video_task
from tests.tasks_api.videos.asking import FIELDS, make_film, make_video, refusal, video_id

AT = datetime(2026, 1, 23, 9, 30, tzinfo=UTC)


def get(api, task):
    return api.get(f"/v1/videos/{video_id(task)}")


def test_a_queued_video_has_all_fields_and_null_where_there_is_nothing(api, key):
    task = make_video(key, created_at=AT)
    answer = get(api, task)
    assert (answer.status_code, list(answer.json())) == (200, FIELDS)
    assert answer.json() == {
        "id": video_id(task),
        "object": "video",
        "model": "comet-video",
        "status": "queued",
        "progress": 0,
        "created_at": int(AT.timestamp()),
        "completed_at": None,
        "expires_at": None,
        "seconds": "5",
        "size": "1280x720",
        "prompt": "a fox runs",
        "error": None,
    }


def test_a_completed_one_tells_when_it_was_and_until_when_it_is_kept(api, key, folder, settings):
    task = make_film(key, finished_at=AT)
    Asset.objects.update(created_at=AT)
    shown = get(api, task).json()
    ends = int((AT + timedelta(seconds=settings.ASSET_RETENTION)).timestamp())
    assert (shown["status"], shown["progress"], shown["error"]) == ("completed", 100, None)
    assert (shown["completed_at"], shown["expires_at"]) == (int(AT.timestamp()), ends)
    settings.ASSET_RETENTION = 0
    assert get(api, task).json()["expires_at"] is None


@pytest.mark.parametrize("status", ["failed", "timeout"])
def test_a_failed_one_and_one_out_of_time_say_why(api, key, status):
    error = {"type": "TASK_TIMEOUT", "message": "It took too long.", "retryable": True}
    shown = get(api, make_video(key, status, error=error, progress=40)).json()
    assert (shown["status"], shown["progress"], shown["completed_at"]) == ("failed", 40, None)
    assert shown["error"] == {"code": "TASK_TIMEOUT", "message": "It took too long."}


def test_a_canceled_one_is_failed(api, key):
    shown = get(api, make_video(key, "canceled")).json()
    assert (shown["status"], shown["error"]["code"]) == ("failed", "TASK_CANCELED")


def test_only_live_ones_say_when_to_look_again(api, key):
    Task.objects.filter(pk=(old := make_video(key, "running", progress=7)).pk).update(created_at=AT)
    assert get(api, make_video(key)).headers["openai-poll-after-ms"] == "1000"
    assert (get(api, old).headers["openai-poll-after-ms"], get(api, old).json()["progress"]) == ("10000", 7)
    assert get(api, old).json()["status"] == "in_progress"
    for status in ("succeeded", "failed", "timeout", "canceled"):
        assert "openai-poll-after-ms" not in get(api, make_video(key, status)).headers, status


def test_a_task_of_the_task_api_is_a_video_too(api, video_model):
    task_id = api.submitted(video_task(duration=6, resolution="1080P", aspect_ratio="9:16"))
    shown = get(api, task_id).json()
    assert (shown["seconds"], shown["size"], shown["model"]) == ("6", "1080x1920", "comet-video")


def test_a_size_in_other_words_is_null():
    for resolution, ratio in (("2K", "16:9"), ("720p", "adaptive"), (None, None), ("0p", "1:1"), ("720p", "0:1")):
        assert video_objects.size_of(resolution, ratio) is None, (resolution, ratio)
    assert video_objects.size_of("480p", "1:1") == "480x480"


def test_of_a_long_prompt_the_beginning_is_shown(api, key, video_model):
    long = "ä" * 40_000
    created = api.send("POST", "/v1/videos", {"model": "comet-video", "prompt": long}).json()
    assert created["prompt"] == api.get(f"/v1/videos/{created['id']}").json()["prompt"] == long[:32_000]
    assert TaskPayload.objects.get().params["prompt"] == long


def test_of_deleted_params_the_length_is_still_known(api, key):
    task = make_video(key, "succeeded", params=None)
    Task.objects.update(price={"mode": "video_duration", "quantity": 8})
    shown = get(api, task).json()
    assert (shown["seconds"], shown["prompt"], shown["size"]) == ("8", None, None)
    for strange in ([], "text", {"prompt": {"a": 1}, "duration": None}):
        TaskPayload.objects.update(params=strange, trace=strange)
        assert get(api, task).json()["seconds"] == "8", strange
    TaskPayload.objects.all().delete()
    assert get(api, task).json()["seconds"] == "8"


def test_everything_that_is_no_video_of_the_key_is_the_same_404(api, api_of, key, account, make_task):
    task = make_video(key)
    nothing = api.get("/v1/videos/video_00000000000000000000000000")
    assert refusal(nothing) == (404, "TASK_NOT_FOUND", None)
    paths = [task.pk, video_id(make_task()), video_id(make_video(key, origin="sync")), "video_x", "x" * 9_000, "%00"]
    for path in paths:
        for method in ("GET", "DELETE"):
            answer = api.send(method, f"/v1/videos/{path}")
            assert (answer.status_code, answer.content) == (404, nothing.content), (method, path)
    stranger = api_of(make_key(account, "second"))
    for method in ("GET", "DELETE"):
        foreign = stranger.send(method, f"/v1/videos/{video_id(task)}")
        assert (foreign.status_code, foreign.content) == (404, nothing.content)
    assert Task.objects.get(pk=task.pk).status == "queued"


def test_a_general_key_is_out_of_scope(api_of, account):
    general = api_of(make_key(account, "general", binding="general"))
    for method, path in (("GET", ""), ("POST", ""), ("GET", "/video_x"), ("DELETE", "/video_x")):
        assert refusal(general.send(method, f"/v1/videos{path}")) == (403, "TASK_SCOPE_REQUIRED", None), (method, path)


def test_other_paths_and_methods_are_refused_in_the_same_shape(api):
    assert refusal(api.get("/v1/videos/")) == (404, "TASK_NOT_FOUND", None)
    assert refusal(api.send("POST", "/v1/videos/video_x/remix")) == (404, "TASK_NOT_FOUND", None)
    answer = api.send("PATCH", "/v1/videos/video_00000000000000000000000000")
    assert refusal(answer) == (405, "TASK_METHOD_NOT_ALLOWED", None)
    assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "DELETE"}
