"""GET /v1/tasks/{id}/trace: why a task ran where it ran, without naming a provider."""

from accounts import keys
from tasks.models import TaskPayload
from tests.tasks_api.asking import end, image_task, refused

NOWHERE = "task_00000000000000000000000000"
ROUTE_FIELDS = {"route", "priority", "weight", "kept", "reasons"}


def trace(api, task_id: str) -> dict:
    response = api.get(f"/v1/tasks/{task_id}/trace")
    assert response.status_code == 200, response.content
    return dict(response.json())


def test_a_queued_task_shows_its_plan_and_routes(api, image_model):
    task_id = api.submitted()
    seen = trace(api, task_id)
    assert list(seen) == ["object", "id", "status", "plan", "routes", "attempts"]
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


def test_a_deleted_decision_leaves_no_routes(api, image_model):
    task_id = api.submitted()
    TaskPayload.objects.update(trace=None)
    assert (trace(api, task_id)["plan"], trace(api, task_id)["routes"]) == (None, [])


def test_a_foreign_task_is_as_unknown_as_one_that_never_was(api, other_api, image_model):
    foreign = other_api.get(f"/v1/tasks/{api.submitted()}/trace")
    unknown = other_api.get(f"/v1/tasks/{NOWHERE}/trace")
    assert (foreign.status_code, foreign.content) == (404, unknown.content)


def test_other_methods_are_refused(api, image_model):
    path = f"/v1/tasks/{api.submitted()}/trace"
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        response = api.send(method, path)
        assert refused(response) == (405, "TASK_METHOD_NOT_ALLOWED")
        assert set(response.headers["Allow"].split(", ")) == {"GET", "HEAD"}
    assert api.send("HEAD", path).status_code == 200


def test_a_closed_key_reads_none(api, key, image_model):
    task_id = api.submitted(image_task())
    keys.disable(key.record)
    assert refused(api.get(f"/v1/tasks/{task_id}/trace"))[0] == 401


def test_reads_of_it_count_against_the_rate(api, image_model, settings):
    task_id = api.submitted()
    settings.RATE_LIMITS = {"read": 1}
    trace(api, task_id)
    assert refused(api.get(f"/v1/tasks/{task_id}/trace")) == (429, "TASK_RATE_LIMITED")
