"""What the Task API refuses, it refuses in the words of the document."""

import json

import pytest

from accounts.models import ApiKey
from catalog.models import Route
from tasks import switches
from tests.reference.asking import ask, documented
from tests.rows import make_account, make_key, make_model
from tests.tasks_api.asking import end, image_task

NOWHERE = "task_00000000000000000000000000"
READS = ("", "/models", "/usage", f"/{NOWHERE}", f"/{NOWHERE}/trace", f"/{NOWHERE}/deliveries", f"/{NOWHERE}/assets/0")
MISSING = (*READS[3:], "/events")

pytestmark = pytest.mark.django_db(transaction=True)


def refusal(method: str, path: str, **options) -> tuple[int, str]:
    return documented(method, f"/v1/tasks{path}", **options).refusal


def test_keys(key, db):
    general = make_key(key.account, "general", binding=ApiKey.Binding.GENERAL)
    for path in (*READS, "/events"):
        assert refusal("GET", path) == (401, "authentication_error")
        assert refusal("GET", path, key=general) == (403, "TASK_SCOPE_REQUIRED")
    for path in ("", "/quote", f"/{NOWHERE}/cancel", f"/{NOWHERE}/redeliver"):
        assert refusal("POST", path, body={}) == (401, "authentication_error")
        assert refusal("POST", path, body={}, key=general) == (403, "TASK_SCOPE_REQUIRED")


def test_what_is_not_there(key, db):
    for method, path in (
        *(("GET", path) for path in READS[3:]),
        ("POST", f"/{NOWHERE}/cancel"),
        ("POST", f"/{NOWHERE}/redeliver"),
        ("DELETE", f"/{NOWHERE}/assets"),
    ):
        assert refusal(method, path, key=key) == (404, "TASK_NOT_FOUND")


def test_queries(key, image_model):
    for path in (*READS[:3], f"/{NOWHERE}", "/events"):
        assert refusal("GET", f"{path}?nonsense=1", key=key) == (400, "TASK_INVALID_REQUEST")
    for path in ("", "/quote"):
        assert refusal("POST", f"{path}?x=1", key=key, body=image_task()) == (400, "TASK_INVALID_REQUEST")


SUBMISSIONS = [
    (image_task(size="1K"), 400, "TASK_INVALID_REQUEST"),
    ({**image_task(), "model": "unheard-of"}, 400, "TASK_UNSUPPORTED_MODEL"),
    ({**image_task(), "modality": "video"}, 400, "TASK_UNSUPPORTED_ADAPTER"),
    (image_task(extra_body={"quality": "high"}), 400, "TASK_NO_CAPABLE_ROUTE"),
]


def test_3d(key, plan):
    make_model("marble", "3d", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    body = {"model": "marble", "modality": "3d", "params": {"prompt": "a fox"}}
    for path in ("", "/quote"):
        assert refusal("POST", path, key=key, body=body) == (400, "TASK_UNSUPPORTED_ADAPTER")


@pytest.mark.parametrize("path", ["", "/quote"])
def test_submissions(key, image_model, path):
    for body, status, kind in SUBMISSIONS:
        assert refusal("POST", path, key=key, body=body) == (status, kind)
    assert refusal("POST", path, key=key, body=b"x", content_encoding="gzip") == (415, "TASK_UNSUPPORTED_MEDIA_TYPE")
    image_model.prices = {"2K": "0.08"}
    image_model.save()
    Route.objects.get().save()
    small = image_task(extra_body={"size": "1024x1024"})
    assert refusal("POST", path, key=key, body=small) == (503, "TASK_PRICING_UNAVAILABLE")


def test_large_bodies(key, settings):
    settings.MAX_REQUEST_BYTES = 10
    for path in ("", "/quote", f"/{NOWHERE}/cancel", f"/{NOWHERE}/redeliver"):
        assert refusal("POST", path, key=key, body=b"x" * 11, content_length="11") == (413, "TASK_REQUEST_TOO_LARGE")


def test_money(image_model):
    poor = make_key(make_account("poor", usd="0.01"))
    assert refusal("POST", "", key=poor, body=image_task()) == (403, "TASK_INSUFFICIENT_BALANCE")
    subscriber = make_key(make_account("subscriber", billing="subscription"))
    for path in ("", "/quote"):
        assert refusal("POST", path, key=subscriber, body=image_task()) == (403, "TASK_BILLING_UNSUPPORTED")


def test_limits(key, image_model, settings):
    key.record.max_queued = 0
    key.record.save()
    assert refusal("POST", "", key=key, body=image_task()) == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
    settings.RATE_LIMITS = {"submit": 0, "read": 0}
    for path in (*READS, "/events"):
        assert refusal("GET", path, key=key) == (429, "TASK_RATE_LIMITED")
    for path in ("", "/quote", f"/{NOWHERE}/cancel", f"/{NOWHERE}/redeliver"):
        assert refusal("POST", path, key=key, body=image_task()) == (429, "TASK_RATE_LIMITED")


def test_switches(key, image_model):
    switches.pause(message="Back at noon.")
    assert refusal("POST", "", key=key, body=image_task()) == (503, "TASK_API_PAUSED")
    switches.disable_api()
    for path in (*READS, "/events"):
        assert refusal("GET", path, key=key) == (503, "TASK_API_DISABLED")
    for path in ("", "/quote", f"/{NOWHERE}/cancel", f"/{NOWHERE}/redeliver"):
        assert refusal("POST", path, key=key, body=image_task()) == (503, "TASK_API_DISABLED")


def test_what_a_task_cannot_bear_now(key, image_model):
    task_id = json.loads(ask("POST", "/v1/tasks", key=key, body=image_task()).content)["id"]
    assert refusal("POST", f"/{task_id}/redeliver", key=key) == (409, "TASK_NOT_REDELIVERABLE")
    assert refusal("DELETE", f"/{task_id}/assets", key=key) == (409, "TASK_NOT_CANCELABLE")
    end(task_id, "succeeded")
    assert refusal("POST", f"/{task_id}/cancel", key=key) == (409, "TASK_NOT_CANCELABLE")
