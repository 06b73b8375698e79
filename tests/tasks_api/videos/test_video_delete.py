"""DELETE /v1/videos/{id}: a queued one is canceled, an ended one loses its files, a running one is left alone."""

from tasks.models import Asset, Task
from tests.tasks.assets.test_retention import exists
from tests.tasks_api.asking import start, video_task
from tests.tasks_api.videos.asking import make_film, make_video, refusal, video_id


def delete(api, task):
    return api.send("DELETE", f"/v1/videos/{video_id(task)}")


def test_a_queued_one_is_canceled_and_costs_nothing(api, video_model):
    task_id = api.submitted(video_task())
    for _ in range(2):
        answer = delete(api, task_id)
        assert (answer.status_code, answer.json()) == (
            200,
            {"id": video_id(task_id), "object": "video.deleted", "deleted": True},
        )
    assert (api.task(task_id)["status"], api.task(task_id)["actual_cost"]) == ("canceled", 0)


def test_an_ended_one_loses_its_files_and_keeps_its_books(api, key, folder):
    task = make_film(key, with_picture=True)
    before, files = Task.objects.values().get(), list(Asset.objects.values_list("storage_key", flat=True))
    for _ in range(2):
        assert delete(api, task).json() == {"id": video_id(task), "object": "video.deleted", "deleted": True}
    assert [exists(file) for file in files] == [False, False]
    assert Task.objects.values().get() == before
    shown = api.get(f"/v1/videos/{video_id(task)}").json()
    assert (shown["status"], shown["expires_at"]) == ("completed", int(Asset.objects.first().deleted_at.timestamp()))


def test_one_that_ended_otherwise_has_no_files_and_is_deleted_all_the_same(api, key):
    for status in ("failed", "timeout", "canceled"):
        assert delete(api, make_video(key, status)).status_code == 200, status


def test_a_running_one_is_a_409_and_goes_on(api, video_model):
    task_id = api.submitted(video_task())
    start(task_id)
    answer = delete(api, task_id)
    assert refusal(answer) == (409, "TASK_NOT_CANCELABLE", None)
    assert "running" in answer.json()["error"]["message"]
    assert answer.headers["x-should-retry"] == "false"
    assert Task.objects.get().status == "running"
