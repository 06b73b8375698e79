"""Requests and queued tasks have limits: 429 with when to come back."""

from accounts.models import Account, ApiKey
from callbacks.models import Delivery
from config.settings import asset_storage
from tasks import switches
from tasks.intake import limits
from tests.rows import make_key
from tests.tasks.request.param_requests import data_url
from tests.tasks_api.asking import end, error_of, image_task, refused, start


def test_the_rate_of_submissions_is_limited_per_key(api, other_api, image_model, settings):
    settings.RATE_LIMITS = {"submit": 2, "read": 1000}
    assert [api.submit().status_code for _ in range(3)] == [202, 202, 429]
    assert other_api.submit().status_code == 202
    assert api.get("/v1/tasks").status_code == 200


def test_a_refusal_by_rate_tells_the_rate_and_when_it_ends(api, image_model, settings, rate_clock):
    settings.RATE_LIMITS = {"submit": 1}
    api.submitted()
    response = api.submit()
    assert refused(response) == (429, "TASK_RATE_LIMITED")
    assert response.headers["RateLimit-Limit"] == "1"
    assert response.headers["RateLimit-Remaining"] == "0"
    assert response.headers["RateLimit-Reset"] == response.headers["Retry-After"] == "40"
    rate_clock.at += 39
    assert api.submit().headers["Retry-After"] == "1"
    rate_clock.at += 1
    assert api.submit().status_code == 202


def test_invalid_submissions_count_too(api, image_model, settings):
    settings.RATE_LIMITS = {"submit": 1}
    assert api.submit({}).status_code == 400
    assert refused(api.submit()) == (429, "TASK_RATE_LIMITED")


READS = [
    ("GET", "/v1/tasks"),
    ("GET", "/v1/tasks/models"),
    ("GET", "/v1/tasks/usage"),
    ("POST", "/v1/tasks/quote"),
    ("GET", "/v1/tasks/task_00000000000000000000000000"),
    ("GET", "/v1/tasks/task_00000000000000000000000000/trace"),
    ("POST", "/v1/tasks/task_00000000000000000000000000/cancel"),
]


def test_reads_are_limited_together(api, settings):
    settings.RATE_LIMITS = {"read": 1}
    assert api.get("/v1/tasks").status_code == 200
    for method, path in READS:
        assert refused(api.send(method, path)) == (429, "TASK_RATE_LIMITED"), path


def test_without_limits_nothing_is_counted(api, image_model, settings):
    settings.RATE_LIMITS = {}
    assert {api.submit().status_code for _ in range(20)} == {202}


def test_the_queue_of_a_key_is_limited(api, api_of, account, image_model):
    ApiKey.objects.update(max_queued=2)
    first, _ = api.submitted(), api.submitted()
    response = api.submit()
    assert refused(response) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
    assert "key" in error_of(response)["message"]
    assert "RateLimit-Limit" not in response.headers
    assert api_of(make_key(account, "second")).submit().status_code == 202
    start(first)
    assert api.submit().status_code == 202


def test_the_queue_of_an_account_is_limited(api, api_of, account, image_model):
    Account.objects.update(max_queued=2)
    second = api_of(make_key(account, "second"))
    task_id = api.submitted()
    second.submitted()
    for each in (api, second):
        response = each.submit()
        assert refused(response) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
        assert "account" in error_of(response)["message"]
    end(task_id, "canceled")
    assert second.submit().status_code == 202


def test_the_callbacks_of_an_account_that_were_never_attempted_are_limited(
    api, api_of, account, image_model, monkeypatch
):
    """A submission and its cancel cost nothing and owe a callback."""
    monkeypatch.setattr(limits, "MOST_NEVER_ATTEMPTED", 2)
    body = {**image_task(), "callback_url": "https://hooks.example.com/"}
    for _ in range(2):
        task_id = api.submitted(body)
        end(task_id, "canceled")
    for each in (api, api_of(make_key(account, "second"))):
        response = each.submit(body, Idempotency_Key="order-1")
        assert refused(response) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
        assert error_of(response)["message"].startswith("callback_url: 2 callbacks of the account were never attempted")
        assert response.headers["Retry-After"] == "60"
    assert api.submit().status_code == 202
    Delivery.objects.filter(task_id=task_id).update(attempts=1)
    assert api.submit(body, Idempotency_Key="order-1").status_code == 202


def test_the_stored_inputs_of_an_account_are_limited(api, api_of, account, image_model, settings, tmp_path):
    """They count until their task has ended; one that is canceled loses them at once."""
    settings.STORAGES = {**settings.STORAGES, "assets": asset_storage(f"file://{tmp_path}")}
    settings.MAX_INPUT_BYTES = 40
    body = image_task(images=[{"image_url": data_url()}])

    def stored() -> int:
        return sum(path.is_file() for path in tmp_path.rglob("*"))

    first, _ = api.submitted(body), api.submitted(body)
    for each in (api, api_of(make_key(account, "second"))):
        response = each.submit(body, Idempotency_Key="order-1")
        assert refused(response) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
        assert error_of(response)["message"].startswith("params.images: these Data URLs have 16 bytes")
        assert response.headers["Retry-After"] == "60"
    assert api.submit().status_code == 202
    assert stored() == 2
    assert api.send("POST", f"/v1/tasks/{first}/cancel").status_code == 200
    assert stored() == 1
    assert api.submit(body, Idempotency_Key="order-1").status_code == 202


def test_the_last_cent_can_be_spent_and_no_more(api, image_model):
    Account.objects.update(balance_micros=80_000)
    assert [api.submit().status_code for _ in range(3)] == [202, 202, 403]
    assert refused(api.submit()) == (403, "TASK_INSUFFICIENT_BALANCE")


def test_a_pause_stops_submissions_alone(api, image_model):
    task_id = api.submitted()
    switches.pause(message="Back at noon.", retry_after_seconds=120)
    response = api.submit()
    assert refused(response) == (503, "TASK_API_PAUSED")
    assert (error_of(response)["message"], response.headers["Retry-After"]) == ("Back at noon.", "120")
    for path in ("/v1/tasks", f"/v1/tasks/{task_id}", "/v1/tasks/models", "/v1/tasks/usage"):
        assert api.get(path).status_code == 200
    assert api.send("POST", f"/v1/tasks/{task_id}/cancel").status_code == 200
    switches.resume()
    assert api.submit().status_code == 202
