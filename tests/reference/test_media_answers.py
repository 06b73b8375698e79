"""What OpenAI's Images and Videos API send and get is as the document says, with Task keys and with general ones."""

import json
from typing import Any

import pytest

from accounts.models import Account
from catalog.models import GroupChannel
from sandbox.server import Sandbox
from tasks import switches
from tasks.assets import assets
from tasks.intake import submission
from tasks.lifecycle import Success
from tests.reference import validating
from tests.reference.asking import Said, ask
from tests.relay.general import make_general_key, make_group
from tests.relay.upstreams import Upstream, streams
from tests.rows import IssuedKey, make_channel, make_key
from tests.storage.conftest import folder
from tests.storage.samples import picture
from tests.tasks import steps
from tests.tasks_api import asking
from tests.tasks_api.openai.forms import form
from tests.tasks_api.videos.asking import make_film, make_video, video_id

__all__ = ["folder"]

pytestmark = pytest.mark.django_db(transaction=True)

GENERATIONS, EDITS, VIDEOS = "/v1/images/generations", "/v1/images/edits", "/v1/videos"
ASKED = {"model": "aurora-image", "prompt": "a fox"}
RELAYED = {"model": "gpt-image-2", "prompt": "a fox"}
FILM = {"model": "comet-video", "prompt": "a fox runs", "seconds": "5", "size": "1280x720"}


def told(method: str, path: str, key: IssuedKey | None, body: Any = b"", **sent: Any) -> Said:
    """The answer, which is as documented; so is a request of JSON, where it was taken."""
    answer = ask(method, path, key=key, body=body, **sent)
    validating.answer(method, path, answer)
    if answer.status_code == 200 and isinstance(body, dict):
        validating.request(method, path, body)
    return answer


def told_of_form(path: str, key: IssuedKey, **parts: str | bytes) -> Said:
    """The same of a form; bytes are files."""
    raw, content_type = form(*parts.items())
    texts = {name: part if isinstance(part, str) else "bytes" for name, part in parts.items()}
    validating.request("POST", path, texts, media_type="multipart/form-data")
    return told("POST", path, key, raw, content_type=content_type)


def of_schema(name: str, answer: Said) -> None:
    validating.valid(validating.at("components", "schemas", name), answer.document)


def named_task(key: IssuedKey) -> str:
    """A task of the Idempotency-Key `k`, which a repeated call waits for."""
    outcome = submission.submit_one(steps.drafted(key, idempotency_key="k"))
    assert isinstance(outcome, submission.Created), outcome
    return outcome.task_id


@pytest.fixture
def painter(account):
    """A general key whose group makes pictures."""
    with Sandbox() as sandbox:
        group = make_group("pictures", image_generation=True, image_prices={"gpt-image-2": 0.04})
        channel = make_channel("painter", "openai_relay", f"{sandbox.url}/openai/v1")
        GroupChannel.objects.create(group=group, channel=channel)
        yield make_general_key(account, group)


@pytest.mark.parametrize("response_format", [None, "b64_json", "url"])
def test_pictures_of_a_task_are_as_documented(key, image_model, folder, response_format):
    task_id = named_task(key)
    made = tuple(assets.store([picture("PNG")], kind="image") for _ in range(2))
    asking.end(task_id, "succeeded", success=Success(actual_micros=40_000, seconds=0, assets=made))
    answer = told("POST", GENERATIONS, key, {**ASKED, "response_format": response_format}, idempotency_key="k")
    of_schema("TaskPictures", answer)
    assert (len(answer.document["data"]), answer.headers["x-task-id"]) == (2, task_id)


def test_the_end_of_a_task_without_pictures_is_as_documented(key, image_model):
    asking.end(named_task(key), "failed", failure=asking.REJECTED)
    answer = told("POST", EDITS, key, ASKED, idempotency_key="k")
    assert (answer.status_code, answer.headers["x-should-retry"]) == (400, "false")


@pytest.mark.parametrize("path", [GENERATIONS, EDITS])
def test_refusals_of_image_calls_are_as_documented(key, account, image_model, path):
    asked = {**ASKED, "images": [{"image_url": "https://example.com/fox.png"}]}
    for status, answer in (
        (401, told("POST", path, None, asked)),
        (403, told("POST", path, make_key(account, "no tasks", task_api=False), asked)),
        (404, told("POST", path, make_general_key(account, None), asked)),
        (400, told("POST", path, key, {**asked, "n": 99})),
        (400, told("POST", path, key, {**asked, "model": "unheard-of"})),
        (400, told("POST", path, key, {**asked, "quality": "high"})),
        (415, told("POST", path, key, b"<>", content_type="text/xml")),
    ):
        assert answer.status_code == status, answer.content
    Account.objects.filter(pk=account.pk).update(balance_micros=0)
    assert told("POST", path, key, asked).document["error"]["type"] == "TASK_INSUFFICIENT_BALANCE"
    switches.pause()
    assert told("POST", path, key, asked).status_code == 503


def test_relayed_pictures_are_as_documented(painter):
    answer = told("POST", GENERATIONS, painter, {**RELAYED, "n": 2})
    of_schema("RelayedPictures", answer)
    assert answer.headers["x-call-id"].startswith("call_")
    edited = told_of_form(EDITS, painter, **RELAYED, image=picture("PNG"))
    assert (edited.status_code, len(edited.document["data"])) == (200, 1)


@pytest.mark.parametrize(("last", "schema"), [("completed", "PictureEvent"), ("partial_image", "MediaError")])
def test_a_stream_of_pictures_is_as_documented(account, last, schema):
    """Also one that breaks off before its picture is whole."""
    events = [{"type": f"image_generation.{name}", "b64_json": "iVBO"} for name in ("partial_image", last)]
    there = Upstream(streams(*events))
    group = make_group(
        "pictures", image_generation=True, image_prices={"gpt-image-2": 0.04}, extra_fields=["partial_images"]
    )
    GroupChannel.objects.create(group=group, channel=make_channel("painter", "openai_relay", f"{there.url}/v1"))
    body = {**RELAYED, "stream": True, "partial_images": 1}
    answer = told("POST", GENERATIONS, make_general_key(account, group), body, beside=there)
    *first, end = map(json.loads, answer.events())
    for name, event in [*(("PictureEvent", each) for each in first), (schema, end)]:
        validating.valid(validating.at("components", "schemas", name), event)
    assert (answer.headers["content-type"], len(first) > 0) == ("text/event-stream", True)


def test_refusals_of_relayed_image_calls_are_as_documented(painter):
    for status, more in ((404, {"model": "unheard-of"}), (400, {"svg": True}), (400, {"prompt": "[moderated]"})):
        assert told("POST", GENERATIONS, painter, {**RELAYED, **more}).status_code == status
    assert told("POST", GENERATIONS, painter, {**RELAYED, "prompt": "a fox [garbage]"}).status_code == 502
    assert told("POST", GENERATIONS, painter, {**RELAYED, "prompt": "a fox [rate-limited]"}).status_code == 429


def test_a_new_video_is_as_documented(key, video_model):
    first = told("POST", VIDEOS, key, FILM, idempotency_key="k")
    again = told("POST", VIDEOS, key, {**FILM, "seconds": 4}, idempotency_key="k")
    assert first.document["id"] == again.document["id"]
    assert again.headers["idempotency-body-mismatch"] == "true"
    assert told_of_form(VIDEOS, key, **FILM).document["status"] == "queued"
    assert told("DELETE", f"{VIDEOS}/{first.document['id']}", key).status_code == 200


@pytest.mark.parametrize("status", ["queued", "running", "failed", "timeout", "canceled"])
def test_a_video_in_each_state_is_as_documented(key, status):
    error = {"type": "TASK_TIMEOUT", "message": "It took too long.", "retryable": True}
    task = make_video(key, status, error=error if status in ("failed", "timeout") else None)
    assert told("GET", f"{VIDEOS}/{video_id(task)}", key).status_code == 200
    assert told("GET", f"{VIDEOS}/{video_id(task)}/content", key).status_code == 404
    if status != "queued":  # which would hold money
        deleted = told("DELETE", f"{VIDEOS}/{video_id(task)}", key)
        assert deleted.status_code == (409 if status == "running" else 200)


def test_a_film_and_its_download_are_as_documented(key, folder):
    path = f"{VIDEOS}/{video_id(make_film(key, with_picture=True))}"
    assert told("GET", path, key).document["status"] == "completed"
    film = told("GET", f"{path}/content", key)
    for status, answer in (
        (200, told("HEAD", f"{path}/content", key)),
        (200, told("GET", f"{path}/content?variant=thumbnail", key)),
        (206, told("GET", f"{path}/content", key, range="bytes=0-9")),
        (304, told("GET", f"{path}/content", key, if_none_match=film.headers["etag"])),
        (416, told("GET", f"{path}/content", key, range="bytes=9999999-")),
        (404, told("GET", f"{path}/content?variant=spritesheet", key)),
        (400, told("GET", f"{path}/content?variant=poster", key)),
        (200, told("DELETE", path, key)),
        (410, told("GET", f"{path}/content", key)),
    ):
        assert answer.status_code == status, answer.content


def test_lists_of_videos_are_as_documented(key):
    assert told("GET", VIDEOS, key).document["data"] == []
    made = [make_video(key, status) for status in ("queued", "running", "canceled")]
    shown = told("GET", f"{VIDEOS}?limit=2&order=asc", key).document
    assert (shown["last_id"], shown["has_more"]) == (video_id(made[1]), True)
    assert told("GET", f"{VIDEOS}?limit=0", key).status_code == 400


def test_refusals_of_videos_are_as_documented(key, account, video_model):
    for method, path, body in (("POST", VIDEOS, FILM), ("GET", VIDEOS, b""), ("GET", f"{VIDEOS}/video_x", b"")):
        assert told(method, path, None, body).status_code == 401
        assert told(method, path, make_general_key(account, None, method + path), body).status_code == 403
    assert told("GET", f"{VIDEOS}/video_x", key).status_code == 404
    assert told("POST", VIDEOS, key, {**FILM, "seconds": "many"}).status_code == 400
    assert told("POST", VIDEOS, key, b"<>", content_type="text/xml").status_code == 415
