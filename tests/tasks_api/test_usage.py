"""GET /v1/tasks/usage: the key's own tasks and spend, and its account's money."""

from datetime import UTC, datetime

from tasks.models import Task
from tasks.shown import usage
from tests.tasks_api.asking import end, image_task, video_task


def test_spend_is_summed_by_day_and_model(api, image_model, video_model):
    for body in (image_task(), image_task(n=2), video_task()):
        end(api.submitted(body), "succeeded")
    api.submitted()
    Task.objects.update(created_at=datetime(2026, 1, 31, 12, tzinfo=UTC))  # so that no midnight comes between
    shown = api.get("/v1/tasks/usage").json()
    assert shown["total"] == {"tasks": 4, "cost": 0.62}
    assert shown["by_day"] == [{"date": "2026-01-31", "tasks": 4, "cost": 0.62}]
    assert shown["by_model"] == [
        {"model": "aurora-image", "modality": "image", "tasks": 3, "cost": 0.12},
        {"model": "comet-video", "modality": "video", "tasks": 1, "cost": 0.5},
    ]
    assert (shown["currency"], shown["balance"], shown["held"]) == ("USD", 9.38, 0.04)


def test_what_has_settled_is_read_once_and_what_comes_after_is_added(api, key, make_task):
    old = datetime(2026, 1, 31, 12, tzinfo=UTC)
    settled = make_task("succeeded", actual_micros=40_000, created_at=old)
    open_since = make_task(created_at=datetime(2026, 2, 1, 0, 0, 0, 5_000, tzinfo=UTC))
    make_task("succeeded", actual_micros=10_000, created_at=datetime(2026, 2, 2, tzinfo=UTC))
    assert api.get("/v1/tasks/usage").json()["total"] == {"tasks": 3, "cost": 0.05}
    assert usage._settled.get(key.id).sums == {("2026-01-31", "aurora-image", "image"): (1, 40_000)}
    Task.objects.filter(pk=settled.pk).update(actual_micros=7)  # which never happens: it shows what is read again
    Task.objects.filter(pk=open_since.pk).update(status="succeeded", actual_micros=5_000, finished_at=old)
    make_task("succeeded", actual_micros=1_000)
    for _ in range(2):
        shown = api.get("/v1/tasks/usage").json()
        assert shown["total"] == {"tasks": 4, "cost": 0.056}
        assert [day["cost"] for day in shown["by_day"]][1:] == [0.01, 0.005, 0.04]


def test_another_keys_tasks_are_not_counted(api, other_api, make_task):
    make_task("succeeded", actual_micros=40_000)
    assert api.get("/v1/tasks/usage").json()["total"]["tasks"] == 1
    assert other_api.get("/v1/tasks/usage").json()["total"] == {"tasks": 0, "cost": 0}
