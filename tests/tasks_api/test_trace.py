"""GET /v1/tasks/{id}/trace: why a task ran where it ran, without naming a provider."""

from tasks.models import TaskPayload
from tests.tasks_api.asking import end

NOWHERE = "task_00000000000000000000000000"
ROUTE_FIELDS = {"route", "priority", "weight", "kept", "reasons"}


def trace(api, task_id: str) -> dict:
    response = api.get(f"/v1/tasks/{task_id}/trace")
    assert response.status_code == 200, response.content
    return dict(response.json())


def test_a_queued_task_shows_its_plan_and_routes(api, image_model):
    task_id = api.submitted()
    seen = trace(api, task_id)
    assert list(seen) == ["object", "id", "status", "plan", "inputs", "routes", "attempts"]
    assert (seen["object"], seen["id"], seen["status"], seen["plan"]) == ("trace", task_id, "queued", "standard")
    assert [set(route) for route in seen["routes"]] == [ROUTE_FIELDS]
    assert (seen["routes"][0]["route"], seen["routes"][0]["kept"], seen["attempts"]) == (1, True, [])


def test_it_names_no_provider(api, image_model):
    text = api.get(f"/v1/tasks/{api.submitted()}/trace").content.decode()
    for name in ("studio", "openai", "gpt-image", "provider.example"):
        assert name not in text


def test_an_ended_task_keeps_its_trace(api, image_model):
    task_id = api.submitted()
    end(task_id, "succeeded")
    TaskPayload.objects.update(params=None)
    assert trace(api, task_id)["status"] == "succeeded"
    assert len(trace(api, task_id)["routes"]) == 1


def test_a_foreign_task_is_as_unknown_as_one_that_never_was(api, other_api, image_model):
    foreign = other_api.get(f"/v1/tasks/{api.submitted()}/trace")
    unknown = other_api.get(f"/v1/tasks/{NOWHERE}/trace")
    assert (foreign.status_code, foreign.content) == (404, unknown.content)
