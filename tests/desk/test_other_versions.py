"""Pages and answers about rows that this version cannot read: they show what they can, beside all the others."""

import pytest
from django.urls import reverse

from desk.kit.actions import url_of
from tasks.failures import OUTCOME_UNKNOWN
from tasks.models import Call, Task, TaskPayload
from tasks.paid_calls import CallEnd
from tests.tasks import steps

pytestmark = pytest.mark.django_db

STRANGE = [[], "text", 7, [7], {"routes": 7}, {"routes": [7, {"reasons": [{"why": "so", "field": 1}]}], "new": {}}]


@pytest.fixture(params=STRANGE, ids=str)
def strange(request, key, video_model) -> Call:
    """A call without an outcome, whose task has every document in another form."""
    worker = steps.worker()
    task = steps.start(key, worker, steps.VIDEO)
    call_id = steps.intended(task, worker)
    assert steps.end(task, "failed", failure=OUTCOME_UNKNOWN, calls=(CallEnd(id=call_id, state="unknown"),))
    found = request.param
    Call.objects.filter(pk=call_id).update(target=found, handle=found, result=found, outcome=found, passed=found)
    Task.objects.filter(id=task.id).update(price=found)
    TaskPayload.objects.filter(task_id=task.id).update(params=found, trace=found, result=found)
    return Call.objects.get(pk=call_id)


def test_every_page_of_the_admin_opens(operator, strange):
    for name, *arguments in (
        ("tasks_task_changelist",),
        ("tasks_task_change", strange.task_id),
        ("tasks_call_changelist",),
        ("tasks_call_change", strange.pk),
        ("tasks_call_unknown",),
        ("tasks_call_do", strange.pk, "lost"),
        ("tasks_task_do", strange.task_id, "retry"),
    ):
        answer = operator.get(reverse(f"admin:{name}", args=arguments))
        assert (answer.status_code, strange.task_id in answer.content.decode()) == (200, True), name


def test_the_client_sees_the_task_its_list_and_its_trace(key, client_for, strange):
    client = client_for(key)
    Task.objects.filter(id=strange.task_id).update(status="succeeded")
    shown = client.get(f"/v1/tasks/{strange.task_id}").json()
    assert (shown["id"], shown["result"]["duration"]) == (strange.task_id, 0)
    assert [each["id"] for each in client.get("/v1/tasks").json()["data"]] == [strange.task_id]
    (attempt,) = client.get(f"/v1/tasks/{strange.task_id}/trace").json()["attempts"]
    assert attempt["state"] == "unknown"


@pytest.mark.parametrize(
    ("action", "fields"), [("attach", {"upstream_id": "cgt-1"}), ("retry", {"done_before": 0, "reason": "lost"})]
)
def test_what_cannot_be_read_is_neither_attached_nor_bought_again(operator, strange, action, fields):
    answer = operator.post(url_of(strange.task if action == "retry" else strange, action), fields)
    assert "This version cannot read" in answer.content.decode()
    assert Task.objects.count() == 1


def test_what_another_version_asked_for_is_not_bought_again(operator, key, video_model):
    worker = steps.worker()
    task = steps.start(key, worker, steps.VIDEO)
    (call,) = steps.intend(steps.intent(task, worker))
    assert steps.end(task, "failed", failure=OUTCOME_UNKNOWN, calls=(CallEnd(id=call.id, state="unknown"),))
    TaskPayload.objects.filter(task_id=task.id).update(params={**steps.VIDEO["params"], "mood": "blue"})
    answer = operator.post(url_of(Task.objects.get(), "retry"), {"done_before": 0, "reason": "lost"})
    assert "does not know params.mood" in answer.content.decode()


def test_a_call_that_cannot_be_read_is_written_off_at_an_unknown_cost(operator, strange):
    assert operator.post(url_of(strange, "lost"), {"reason": "gone"}).status_code == 302
    row = Call.objects.get(pk=strange.pk)
    assert (row.state, row.cost_micros, row.outcome["resolved"]) == ("lost", None, "lost")
