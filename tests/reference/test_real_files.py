"""Files, streams and the paths of operators answer as the document says."""

from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from tests.reference import places, validating
from tests.reference.asking import ask, documented
from tests.storage.conftest import folder, image, stored, video
from tests.tasks import steps
from tests.tasks_api.asking import image_task
from tests.tasks_api.stream.sse import Frame

__all__ = ["folder", "image", "stored", "video"]

pytestmark = pytest.mark.django_db(transaction=True)


def link(asset, key) -> str:
    """The signed path and query of an asset."""
    parts = urlsplit(documented("GET", f"/v1/tasks/{asset.task_id}", key=key).document["assets"][0]["url"])
    return f"{parts.path}?{parts.query}"


def test_a_file_by_its_key(image, key):
    path = f"/v1/tasks/{image.task_id}/assets/0"
    whole = documented("GET", path, key=key)
    assert (whole.status_code, len(whole.content)) == (200, image.size_bytes)
    assert documented("HEAD", path, key=key).status_code == 200
    part = documented("GET", path, key=key, range="bytes=0-9")
    assert (part.status_code, part.content) == (206, whole.content[:10])
    for method in ("GET", "HEAD"):
        assert documented(method, path, key=key, if_none_match=whole.headers["ETag"]).status_code == 304
    assert documented("GET", path, key=key, range="bytes=999999-").refusal == (416, "TASK_RANGE_NOT_SATISFIABLE")
    assert documented("GET", f"{path}?x=1", key=key).refusal == (400, "TASK_INVALID_REQUEST")


def test_a_file_by_its_link(video, key):
    path = link(video, key)
    assert documented("GET", path).headers["Content-Type"] == "video/mp4"
    assert documented("GET", path, range="bytes=-5").status_code == 206
    assert documented("HEAD", path).status_code == 200
    assert documented("GET", path.replace("signature=", "signature=0")).refusal == (403, "TASK_ASSET_URL_INVALID")


def test_a_file_that_was_deleted(image, key):
    path = link(image, key)
    for _ in range(2):
        assert documented("DELETE", f"/v1/tasks/{image.task_id}/assets", key=key).status_code == 204
    for method in ("GET", "HEAD"):
        assert documented(method, path).status_code == 410
        assert documented(method, f"/v1/tasks/{image.task_id}/assets/0", key=key).status_code == 410
    kept = documented("GET", f"/v1/tasks/{image.task_id}", key=key).document["assets"][0]["retained_until"]
    assert kept <= (timezone.now() + timedelta(seconds=1)).isoformat()


def stream(key, *, until: bytes, after: str = "") -> list[Frame]:
    """The frames of a stream that is left with one that holds this."""
    said = documented("GET", f"/v1/tasks/events?after={after}", key=key, enough=lambda got: until in got)
    return [Frame(text, 0) for text in said.content.decode().split("\n\n") if text]


def test_the_events_of_a_stream(key, image_model):
    task_id = ask("POST", "/v1/tasks", key=key, body=image_task()).document["id"]
    _, queued = stream(key, until=b"queued")
    (task,) = steps.claimed(steps.worker())
    steps.end(task)
    _, running, succeeded = stream(key, until=b"succeeded", after=str(queued.id))
    told = [queued, running, succeeded]
    for frame in told:
        validating.valid(places.at("components", "schemas", "TaskEvent"), frame.data)
    assert [frame.seen for frame in told] == [(task_id, status) for status in ("queued", "running", "succeeded")]
    assert stream(key, until=b"reset", after="nobody-knows")[1].event == "stream.reset"


def test_too_many_streams(key, monkeypatch):
    monkeypatch.setattr("tasks.events.hub.STREAMS_PER_KEY", 0)
    assert documented("GET", "/v1/tasks/events", key=key).refusal == (429, "TASK_STREAM_LIMIT_EXCEEDED")


def test_the_paths_of_operators(folder, db):
    assert documented("GET", "/healthz").document == {"status": "ok"}
    assert documented("HEAD", "/healthz").content == b""
    assert documented("GET", "/readyz").status_code == 503
    steps.worker()
    assert documented("GET", "/readyz").document["status"] == "ready"
    assert documented("GET", "/metrics", host="localhost").content.startswith(b"# HELP")
    assert documented("GET", "/metrics").refusal == (404, "TASK_NOT_FOUND")
