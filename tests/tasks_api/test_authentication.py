"""Who may call: the header, the one 401 for every cause, and the 403 of keys that are not for this API."""

import datetime

import pytest
from django.utils import timezone

from accounts import keys
from accounts.models import ApiKey
from tests.rows import make_account, make_key
from tests.tasks_api.asking import Api, refused

PATHS = [
    ("POST", "/v1/tasks"),
    ("GET", "/v1/tasks"),
    ("GET", "/v1/tasks/models"),
    ("POST", "/v1/tasks/quote"),
    ("GET", "/v1/tasks/usage"),
    ("GET", "/v1/tasks/task_00000000000000000000000000"),
    ("POST", "/v1/tasks/task_00000000000000000000000000/cancel"),
    ("GET", "/v1/tasks/task_00000000000000000000000000/trace"),
    ("GET", "/v1/tasks/task_00000000000000000000000000/deliveries"),
    ("POST", "/v1/tasks/task_00000000000000000000000000/redeliver"),
    ("GET", "/v1/tasks/unheard-of"),
    ("PUT", "/v1/tasks"),
]


@pytest.fixture
def anyone(client, db) -> Api:
    return Api(client)


def unusable(key) -> dict[str, str]:
    """Authorization headers that open nothing, by cause."""
    causes = {
        "unknown": f"Bearer dr-task-{'0' * 43}",
        "malformed": "Bearer",
        "empty": "",
        "another scheme": f"Basic {key.secret}",
        "no scheme": key.secret,
        "two keys": f"Bearer {key.secret} {key.secret}",
        "quoted": f'Bearer "{key.secret}"',
        "a part": f"Bearer {key.secret[:-1]}",
        "more": f"Bearer {key.secret}x",
        "upper case": f"Bearer {key.secret.upper()}",
        "not ascii": "Bearer clé\xe9",
        "a NUL": f"Bearer {key.secret}\x00",
        "SQL": "Bearer ' OR 1=1 --",
        "very long": f"Bearer {'x' * 50_000}",
    }
    disabled = make_key(key.account, "disabled")
    keys.disable(disabled.record)
    expired = make_key(key.account, "expired", expires_at=timezone.now() - datetime.timedelta(seconds=1))
    rotated = make_key(key.account, "rotated")
    keys.rotate(rotated.record, grace_seconds=0)
    not_usable = {"disabled": disabled, "expired": expired, "rotated": rotated}
    return causes | {cause: f"Bearer {issued.secret}" for cause, issued in not_usable.items()}


def test_every_cause_gives_the_same_401(anyone, key):
    missing = anyone.get("/v1/tasks")
    answers = {cause: anyone.get("/v1/tasks", Authorization=header) for cause, header in unusable(key).items()}
    answers |= {path: anyone.send(method, path) for method, path in PATHS}
    answers |= {f"{path} unknown": anyone.send(method, path, Authorization="Bearer x") for method, path in PATHS}
    for case, answer in answers.items():
        assert refused(answer) == (401, "authentication_error"), case
        assert answer.content == missing.content, case
        assert answer.headers["WWW-Authenticate"] == "Bearer", case


def test_the_scheme_is_bearer_in_any_case(anyone, key):
    for scheme in ("Bearer", "bearer", "BEARER", "Bearer  "):
        assert anyone.get("/v1/tasks", Authorization=f"{scheme} {key.secret}").status_code == 200, scheme


def test_the_key_is_read_from_no_other_place(anyone, key):
    assert anyone.get(f"/v1/tasks?key={key.secret}&api_key={key.secret}").status_code == 401
    assert anyone.get("/v1/tasks", x_api_key=key.secret).status_code == 401


def test_a_general_key_is_out_of_scope_everywhere(api_of, db):
    api = api_of(make_key(make_account("writer"), binding="general"))
    for method, path in PATHS:
        assert refused(api.send(method, path)) == (403, "TASK_SCOPE_REQUIRED"), f"{method} {path}"


def test_a_key_that_is_not_enabled_for_the_task_api_is_out_of_scope(api, key):
    ApiKey.objects.update(task_api=False)
    for method, path in PATHS:
        assert refused(api.send(method, path)) == (403, "TASK_SCOPE_REQUIRED"), f"{method} {path}"


def test_a_disabled_general_key_is_a_401_and_not_a_403(api_of, db):
    general = make_key(make_account("writer"), binding="general")
    keys.disable(general.record)
    assert refused(api_of(general).get("/v1/tasks")) == (401, "authentication_error")


def test_a_key_that_is_enabled_again_works_at_once(api, key):
    keys.disable(key.record)
    assert api.get("/v1/tasks").status_code == 401
    keys.enable(key.record)
    assert api.get("/v1/tasks").status_code == 200


def test_subscription_billing_is_refused_for_submissions_only(api, account, image_model):
    task_id = api.submitted()
    type(account).objects.update(billing="subscription")
    assert refused(api.submit()) == (403, "TASK_BILLING_UNSUPPORTED")
    assert refused(api.quote({})) == (403, "TASK_BILLING_UNSUPPORTED")
    assert api.get(f"/v1/tasks/{task_id}").status_code == 200
    assert api.get("/v1/tasks/models").status_code == 200
