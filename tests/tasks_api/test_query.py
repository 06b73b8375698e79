"""Query parameters: on every path those that it knows, each at most once, and no others."""

import pytest

from accounts.models import Account
from common.errors import InvalidRequest
from tasks import switches
from tasks.models import Task
from tasks_api import stream
from tests.scopes import scope
from tests.tasks_api.asking import Api, error_of, named, refused, video_task
from tests.tasks_api.downloads.asking import ask

NOWHERE = "task_00000000000000000000000000"
PATHS = [
    ("POST", "/v1/tasks"),
    ("GET", "/v1/tasks"),
    ("HEAD", "/v1/tasks"),
    ("POST", "/v1/tasks/quote"),
    ("GET", "/v1/tasks/models"),
    ("HEAD", "/v1/tasks/models"),
    ("GET", "/v1/tasks/usage"),
    ("GET", "/v1/tasks/{id}"),
    ("POST", "/v1/tasks/{id}/cancel"),
    ("GET", "/v1/tasks/{id}/trace"),
    ("GET", "/v1/tasks/{id}/deliveries"),
    ("POST", "/v1/tasks/{id}/redeliver"),
]
UNKNOWN = [
    ("plan=vip", "plan"),
    ("plan", "plan"),
    ("plan=", "plan"),
    ("PLAN=vip", "PLAN"),
    ("a%20b=1", '"a b"'),
    ("a%00b=1", '"a\\u0000b"'),
    ("%FF=1", '"\\ufffd"'),
    ("=1", '""'),
    ("x" * 9_000 + "=1", f'"{"x" * 64}\\u2026"'),
]


@pytest.fixture
def task_id(api, image_model) -> str:
    return api.submitted()


def message(response) -> str:
    assert refused(response) == (400, "TASK_INVALID_REQUEST"), response.content
    return str(error_of(response)["message"])


def test_an_unknown_parameter_is_named_on_every_path(api, task_id):
    before = list(Task.objects.values_list("id", "status"))
    for method, path in PATHS:
        given = video_task() if path == "/v1/tasks" or path.endswith("quote") else b""
        answer = api.send(method, f"{path.format(id=task_id)}?plan=vip", given)
        assert answer.status_code == 400, (method, path)
        assert method == "HEAD" or message(answer) == "plan: unknown query parameter.", (method, path)
    assert list(Task.objects.values_list("id", "status")) == before


def test_an_unknown_parameter_is_named_whatever_its_spelling(api, task_id):
    for query, shown in UNKNOWN:
        assert message(api.get(f"/v1/tasks/usage?{query}")) == f"{shown}: unknown query parameter.", query[:20]


def test_the_list_knows_metadata_by_key_alone(api, task_id):
    assert api.get("/v1/tasks?metadata.order=A").status_code == 200
    for name in ("metadata", "metadata.", "order"):
        assert message(api.get(f"/v1/tasks?{name}=A")) == f"{name}: unknown query parameter.", name


def test_wait_is_known_to_the_task_alone(api, task_id):
    assert api.get(f"/v1/tasks/{task_id}?wait=0").status_code == 200
    for method, path in PATHS:
        if (method, path) not in (("GET", "/v1/tasks/{id}"), ("HEAD", "/v1/tasks"), ("HEAD", "/v1/tasks/models")):
            given = video_task() if path == "/v1/tasks" or path.endswith("quote") else b""
            assert named(api.send(method, f"{path.format(id=task_id)}?wait=1", given)) == "wait", (method, path)


def test_a_known_parameter_comes_once(api, task_id):
    for path in (f"/v1/tasks/{task_id}?wait=1&wait=1", "/v1/tasks?limit=1&limit=1"):
        assert message(api.get(path)).endswith(": given more than once."), path


def test_too_many_parameters_are_a_400(api, task_id):
    many = "&".join(f"a{n}=1" for n in range(20_000))
    assert message(api.get(f"/v1/tasks/usage?{many}")) == "The query has too many parameters."


def test_a_replay_answers_whatever_the_query_holds(api, image_model):
    task_id = api.submitted(Idempotency_Key="order-1")
    answer = api.send("POST", "/v1/tasks?plan=vip", b"", Idempotency_Key="order-1")
    assert (answer.status_code, answer.json()["id"]) == (202, task_id)


def test_a_submissions_query_is_checked_with_its_fields(api, settings, image_model):
    def answer(body: object = b"{}", **headers: str):
        return api.send("POST", "/v1/tasks?plan=vip", body, **headers)

    assert message(answer({"model": "unheard-of"})).startswith("plan: ")
    assert message(answer(b"{")).startswith("The body is not valid JSON")
    assert refused(answer(content_type="text/plain"))[0] == 415
    Account.objects.update(billing="subscription")
    assert refused(answer()) == (403, "TASK_BILLING_UNSUPPORTED")
    assert refused(api.send("POST", "/v1/tasks/quote?plan=vip", {})) == (403, "TASK_BILLING_UNSUPPORTED")
    switches.pause()
    assert refused(answer()) == (503, "TASK_API_PAUSED")
    settings.RATE_LIMITS = {"submit": 0}
    assert refused(answer()) == (429, "TASK_RATE_LIMITED")


def test_the_key_the_path_and_the_method_are_checked_before_the_query(api, client, task_id):
    assert refused(Api(client).get("/v1/tasks/usage?plan=vip"))[0] == 401
    assert refused(api.get("/v1/tasks/a/b?plan=vip")) == (404, "TASK_NOT_FOUND")
    assert refused(api.send("DELETE", "/v1/tasks/usage?plan=vip")) == (405, "TASK_METHOD_NOT_ALLOWED")


@pytest.mark.django_db(transaction=True)
def test_a_stream_knows_after_alone(key):
    for query, name in (("plan=vip", "plan"), ("wait=1", "wait"), ("after=1&after=1", "after")):
        request = scope("GET", "/v1/tasks/events", query, authorization=f"Bearer {key.secret}")
        with pytest.raises(InvalidRequest, match=f"^{name}: "):
            stream._listening(request, stream.admitted)
    known = scope("GET", "/v1/tasks/events", "after=1", authorization=f"Bearer {key.secret}")
    assert stream._listening(known, stream.admitted).caller.key_id == key.id


@pytest.mark.django_db(transaction=True)
def test_a_download_with_a_key_knows_no_parameter(key, make_task):
    path = f"/v1/tasks/{make_task('succeeded').id}/assets/0?download=1"
    headers = {"Authorization": f"Bearer {key.secret}"}
    answer = ask(path, headers=headers)
    assert (answer.status, answer.error) == (400, "TASK_INVALID_REQUEST")
    assert b"download: unknown query parameter." in answer.body
    assert (ask(path, method="HEAD", headers=headers).status, ask(path).status) == (400, 401)
