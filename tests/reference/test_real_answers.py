"""Answers of the Task API about tasks, models and money are what the document says."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from billing import budgets
from tasks import paid_calls
from tasks.failures import TIMED_OUT
from tasks.models import Task
from tasks.paid_calls import CallEnd
from tests.reference import validating
from tests.reference.asking import ask, documented
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url, media
from tests.tasks_api.asking import REJECTED, end, image_task, start, video_task
from tools.children import wait_until

HOOK = "https://hooks.example.com/done"

pytestmark = pytest.mark.django_db(transaction=True)


def submitted(key, body=None, **headers) -> str:
    said = documented("POST", "/v1/tasks", key=key, body=body or image_task(), **headers)
    assert said.status_code == 202
    return str(said.document["id"])


def test_submissions_and_replays(key, image_model, video_model):
    full = {**video_task(), "metadata": {"order": "A-17", "rush": True, "nothing": None}, "callback_url": HOOK}
    submitted(key, full, idempotency_key="a film")
    replay = documented("POST", "/v1/tasks", key=key, body=image_task(), idempotency_key="a film")
    assert replay.headers["Idempotency-Replayed"] == replay.headers["Idempotency-Body-Mismatch"] == "true"
    edit = image_task(n=2, images=[{"image_url": data_url()}, {"image_url": "https://cdn.example.com/a.png"}])
    submitted(key, {**edit, "modality": None, "metadata": None})
    submitted(key, video_task(inputs=[media(id="a", role="first_frame")], provider_options={"seed": 7}))
    waited = documented("POST", "/v1/tasks", key=key, body=image_task(), prefer="wait=0", x_request_id="my.own-id_1")
    assert waited.headers["Preference-Applied"] == "wait=0"
    assert waited.headers["X-Request-Id"] == "my.own-id_1"


def test_a_task_that_ends_while_its_client_waits(key, image_model):
    with ThreadPoolExecutor(max_workers=1) as thread:
        waiting = thread.submit(documented, "POST", "/v1/tasks", key=key, body=image_task(), prefer="wait=60")
        wait_until(Task.objects.exists, what="the task")
        end(Task.objects.get().pk, "succeeded")
        said = waiting.result()
    assert (said.status_code, said.document["status"]) == (200, "succeeded")


def test_a_task_in_every_state_and_the_list_of_them(key, image_model):
    queued, running, succeeded, failed, timeout, canceled = (
        submitted(key, {**image_task(), "callback_url": HOOK, "metadata": {"n": n}}) for n in range(6)
    )
    documented("POST", f"/v1/tasks/{canceled}/cancel", key=key)
    start(running)
    end(succeeded, "succeeded")
    end(failed, "failed", failure=REJECTED)
    end(timeout, "timeout", failure=TIMED_OUT)
    states = {"queued": queued, "running": running, "succeeded": succeeded}
    states |= {"failed": failed, "timeout": timeout, "canceled": canceled}
    for status, task_id in states.items():
        said = documented("GET", f"/v1/tasks/{task_id}?wait=0", key=key)
        assert said.document["status"] == status
        assert ("Retry-After" in said.headers) == (status in ("queued", "running"))
        known = documented("GET", f"/v1/tasks/{task_id}", key=key, if_none_match=said.headers["ETag"])
        assert known.status_code == 304
        (listed,) = documented("GET", f"/v1/tasks?status={status}&limit=1", key=key).document["data"]
        assert (listed["id"], listed["status"]) == (task_id, status)
    assert documented("HEAD", f"/v1/tasks/{succeeded}", key=key).content == b""
    first = documented("GET", "/v1/tasks?modality=image&limit=3", key=key).document
    rest = documented("GET", f"/v1/tasks?metadata.n=0&cursor={first['next_cursor']}", key=key).document
    assert [task["id"] for task in rest["data"]] == [queued]


def test_quotes_models_and_usage(key, image_model, video_model):
    budgets.set_limits(key.account, day_micros=None, month_micros=5_000_000)
    budgets.set_limits(key.record, day_micros=100_000, month_micros=None)
    done = submitted(key)
    end(done, "succeeded")
    cheap = documented("POST", "/v1/tasks/quote", key=key, body=image_task()).document
    dear = documented("POST", "/v1/tasks/quote", key=key, body=video_task(duration=86_400)).document
    assert (cheap["affordable"], dear["affordable"], dear["balance_after"] < 0) == (True, False, True)
    models = documented("GET", "/v1/tasks/models", key=key).document["data"]
    assert {model["modality"]: model["eta_seconds"] is None for model in models} == {"image": False, "video": True}
    assert [b["holder"] for b in documented("GET", "/v1/tasks/usage", key=key).document["budgets"]] == [
        "account",
        "key",
    ]


def test_traces_of_each_stage(key, image_model):
    worker_id = steps.worker()
    task_id = submitted(key)
    (task,) = steps.claimed(worker_id)
    assert documented("GET", f"/v1/tasks/{task_id}/trace", key=key).document["attempts"] == []
    call_id = steps.intended(task, worker_id)
    states = [documented("GET", f"/v1/tasks/{task_id}/trace", key=key).document["attempts"][0]["state"]]
    assert paid_calls.accept(call_id, {"id": "job-1"}, poll_after=0)
    states.append(documented("GET", f"/v1/tasks/{task_id}/trace", key=key).document["attempts"][0]["state"])
    steps.end(task, call=CallEnd(id=call_id, state="done", outcome={"kind": "succeeded", "delivered": 1}))
    ended = documented("GET", f"/v1/tasks/{task_id}/trace", key=key).document["attempts"][0]
    assert [*states, ended["state"], ended["cost"]] == ["intent", "accepted", "done", 0.04]


def test_unknown_paths_and_methods(key, db):
    for path in ("/v1/tasks/a/b", "/nowhere"):
        validating.refusal("NotFound", ask("GET", path, key=key))
    for path in ("/v1/tasks", "/v1/tasks/events", "/healthz"):
        said = ask("DELETE", path, key=key)
        assert said.refusal == (405, "TASK_METHOD_NOT_ALLOWED")
        validating.refusal("MethodNotAllowed", said)
