"""GET /v1/tasks/usage: the key's own tasks and spend, and its account's money."""

from datetime import UTC, datetime

from tasks.models import Task
from tests.tasks_api.asking import end, image_task, video_task


def test_spend_is_summed_by_day_and_model(api, image_model, video_model):
    for body in (image_task(), image_task(n=2), video_task()):
        end(api.submitted(body), "succeeded")
    api.submitted()
    Task.objects.update(created_at=datetime(2026, 1, 31, 12, tzinfo=UTC))  # so that no midnight comes between
    usage = api.get("/v1/tasks/usage").json()
    assert usage["total"] == {"tasks": 4, "cost": 0.62}
    assert usage["by_day"] == [{"date": "2026-01-31", "tasks": 4, "cost": 0.62}]
    assert usage["by_model"] == [
        {"model": "aurora-image", "modality": "image", "tasks": 3, "cost": 0.12},
        {"model": "comet-video", "modality": "video", "tasks": 1, "cost": 0.5},
    ]
    assert (usage["currency"], usage["balance"], usage["held"]) == ("USD", 9.38, 0.04)
