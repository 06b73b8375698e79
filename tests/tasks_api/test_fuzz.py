"""Whatever is sent to whatever path: the documented JSON, and never a fault of ours."""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tasks.models import Task
from tests.tasks.request.param_requests import media
from tests.tasks_api.asking import error_of, image_task, video_task

pytestmark = pytest.mark.django_db
FUZZ = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
STATUSES = {200, 202, 304, 400, 403, 404, 405, 409, 415, 429}
WORDS = st.sampled_from(
    [
        "model",
        "params",
        "n",
        "prompt",
        "inputs",
        "url",
        "role",
        "images",
        "extra_body",
        "metadata",
        "1K",
        "aurora-image",
    ]
)
TEXT = (
    WORDS | st.text(max_size=20) | st.sampled_from(["\0", "\ud800", "\u202e", "💥", "a" * 3_000, "https://x.example/"])
)
NUMBERS = st.integers() | st.floats() | st.sampled_from([2**63, -(2**63) - 1, 1e308, 0, -1])
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
FULL = {"metadata": {"order": "A-17"}, "callback_url": "https://example.com/hook"}
VALID = [
    {**image_task(n=2, image_size="2K", aspect_ratio="16:9", extra_body={"quality": "high", "a": [1]}), **FULL},
    {**image_task(images=[{"image_url": "https://example.com/a.png"}]), **FULL},
    {
        **video_task(inputs=[media(id="a", role="first_frame")], provider_options={"seed": 1}, generate_audio=True),
        **FULL,
    },
    {"model": "marble", "modality": "3d", "params": {"prompt": "a fox", "inputs": [media()], "output_format": "glb"}},
]


def escaped(text: str) -> str:
    return quote(text.encode("utf-8", "surrogatepass"), safe="")


HEADER = st.text(st.characters(codec="latin-1"), max_size=40)
HEADERS = ("Idempotency-Key", "If-None-Match", "Accept", "Content-Encoding", "Prefer", "Cookie", "Range")
PATHS = st.sampled_from(
    [
        "/v1/tasks",
        "/v1/tasks/models",
        "/v1/tasks/quote",
        "/v1/tasks/usage",
        "/v1/tasks/task_00000000000000000000000000",
        "/v1/tasks/task_00000000000000000000000000/cancel",
    ]
) | st.text(max_size=30).map(lambda text: f"/v1/tasks/{escaped(text)}")


def answered(response: Any) -> None:
    """An answer that we meant to give."""
    assert response.status_code in STATUSES, response.content[:500]
    if response.status_code >= 400:
        error_of(response)


@st.composite
def spoilt(draw: st.DrawFn) -> Any:
    """A valid submission with one value, at any depth, replaced, removed or added."""
    body = json.loads(json.dumps(draw(st.sampled_from(VALID))))
    places = [(body, key) for key in body]
    for parent, key in places:
        child = parent[key]
        if isinstance(child, dict | list):
            places += [(child, inner) for inner in (child if isinstance(child, dict) else range(len(child)))]
    parent, key = draw(st.sampled_from(places))
    if isinstance(parent, dict) and draw(st.booleans()):
        parent[draw(TEXT)] = draw(JSON)
    else:
        parent[key] = draw(JSON)
    return body


def encoded(body: Any) -> bytes:
    """JSON as a careless client writes it: NaN, infinities and lone surrogates included."""
    return json.dumps(body).encode()


@settings(FUZZ, max_examples=150)
@given(body=spoilt() | JSON)
def test_no_json_body_is_a_fault(api, image_model, video_model, body):
    for path in ("/v1/tasks", "/v1/tasks/quote"):
        answered(api.send("POST", path, encoded(body)))
    assert all(task.payload for task in Task.objects.select_related("payload"))


@FUZZ
@given(raw=st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
@example(b"\xff\xfe")
@example(b'{"model":')
def test_no_bytes_are_a_fault(api, image_model, raw):
    for path in ("/v1/tasks", "/v1/tasks/quote"):
        assert api.send("POST", path, raw).status_code == 400


@FUZZ
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]),
    path=PATHS,
    query=st.text(max_size=40),
)
def test_no_path_method_or_query_is_a_fault(api, image_model, method, path, query):
    answered(api.send(method, f"{path}?{escaped(query)}"))


@FUZZ
@given(
    names=st.lists(
        st.sampled_from(
            ["status", "modality", "model", "limit", "cursor", "created_after", "metadata.a", "metadata.", "x"]
        ),
        max_size=3,
        unique=True,
    ),
    value=TEXT | st.integers().map(str) | st.datetimes().map(str) | st.floats().map(str),
)
def test_no_filter_is_a_fault(api, image_model, names, value):
    query = {name: value.encode("utf-8", "replace").decode() for name in names}
    answered(api.client.get("/v1/tasks", query_params=query))


@FUZZ
@given(
    headers=st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(HEADERS, HEADER),
    ),
    content_type=HEADER | HEADER.map(lambda text: f"application/json; {text}"),
)
@example(headers={}, content_type="application/json; charset*0*=utf-8''%ff; charset*1=x")
@example(headers={}, content_type="application/json; a=" + "x" * 20_000)
@example(headers={}, content_type="application/json; charset=\xff")
@example(headers={"Cookie": "sessionid=x; csrftoken=" + "y" * 5_000}, content_type="application/json")
def test_no_header_is_a_fault(api, image_model, headers, content_type):
    for method, path in (("POST", "/v1/tasks"), ("GET", "/v1/tasks"), ("GET", "/v1/tasks/x")):
        answered(api.send(method, path, encoded(image_task()), content_type=content_type, **headers))


@FUZZ
@given(authorization=HEADER | HEADER.map(lambda text: f"Bearer {text}"))
def test_no_authorization_is_a_fault(api, authorization):
    assert api.get("/v1/tasks", Authorization=authorization).status_code == 401
