"""`input_reference`: an uploaded image is the first frame, which the route reaches by a signed URL."""

import base64
from urllib.parse import urlsplit

import pytest

from catalog.models import Channel
from tasks.assets import inputs
from tasks.models import Task, TaskPayload
from tasks.request import stored_params
from tests.storage.samples import film, picture
from tests.tasks_api.asking import end, refused, video_task
from tests.tasks_api.downloads.asking import ask
from tests.tasks_api.openai.forms import form
from tests.tasks_api.videos.asking import refusal
from tests.tasks_api.videos.test_video_submission import ASKED, create, create_form

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("folder", "video_model")]
PNG = picture("PNG")


def upload(api, content=PNG, **headers):
    return create_form(api, *ASKED.items(), ("input_reference", content), **headers)


def url_of(task):
    """What the provider gets."""
    request = stored_params.load_to_buy("video", TaskPayload.objects.get(task=task).params)
    (frame,) = inputs.with_upload_urls(request, task.pk).inputs
    return frame.url


@pytest.mark.parametrize("form_of", ["PNG", "JPEG", "WEBP", "GIF"])
def test_an_upload_is_one_first_frame_known_by_its_bytes(api, form_of):
    content = picture(form_of)
    answer = upload(api, content)
    assert answer.status_code == 200, answer.content
    (frame,) = TaskPayload.objects.get().params["inputs"]
    assert (frame["type"], frame["role"]) == ("image", "first_frame")
    assert (frame["stored"]["content_type"], frame["stored"]["size_bytes"]) == (
        f"image/{form_of.lower()}",
        len(content),
    )
    assert Task.objects.get().input_bytes == len(content)


def test_a_data_url_is_an_upload_too(api):
    reference = {"image_url": f"data:image/png;base64,{base64.b64encode(PNG).decode()}"}
    assert create(api, {**ASKED, "input_reference": reference}).status_code == 200
    assert ask(url_of(Task.objects.get())).body == PNG


def test_the_route_reaches_it_while_the_task_lives(api):
    upload(api)
    task = Task.objects.get()
    url = url_of(task)
    found = ask(url)
    assert (found.status, found.body, found.headers["content-type"]) == (200, PNG, "image/png")
    assert ask(url, headers={"Range": "bytes=0-3"}).body == PNG[:4]
    for forged in (url.replace("input-0", "0"), url.replace("input-0", "input-1"), url[:-1]):
        assert (ask(forged).status, ask(forged).error) == (403, "TASK_ASSET_URL_INVALID"), forged
    end(task.pk, "canceled")
    assert (ask(url).status, ask(url).error) == (410, "TASK_ASSET_EXPIRED")


def test_a_signature_of_a_result_opens_no_upload(api):
    upload(api)
    task = Task.objects.get()
    path, query = urlsplit(url_of(task)).path, urlsplit(url_of(task)).query
    body = video_task(inputs=[{"type": "image", "role": "first_frame", "url": f"{path}?{query}"}])
    assert refused(api.submit(body)) == (400, "TASK_INVALID_REQUEST")
    assert (
        refused(api.submit(video_task(inputs=[{"type": "image", "role": "first_frame", "url": url_of(task)}])))[0]
        == 400
    )


@pytest.mark.parametrize("content", [b"", b"a text", film(), b"<svg/>"])
def test_what_is_no_image_is_named_and_leaves_nothing(api, folder, content):
    assert refusal(upload(api, content)) == (400, "TASK_INVALID_REQUEST", "input_reference")
    assert not Task.objects.exists()
    assert not [path for path in folder.rglob("*") if path.is_file()]


def test_there_is_one(api):
    two = [("input_reference", PNG), ("input_reference", PNG)]
    assert refusal(create_form(api, *ASKED.items(), *two))[2] == "input_reference"
    both = [("input_reference", PNG), ("input_reference[image_url]", "https://cdn.example.com/a.png")]
    assert refusal(create_form(api, *ASKED.items(), *both))[2] == "input_reference"


def test_a_route_that_cannot_take_it_is_passed_over_and_the_field_is_named(api):
    Channel.objects.update(adapter="openai_videos", base_url="https://films.provider.example/v1")
    assert upload(api).status_code == 200
    gif = upload(api, picture("GIF"))
    assert refusal(gif)[:2] == (400, "TASK_NO_CAPABLE_ROUTE")
    assert "input_reference" in gif.json()["error"]["message"]


def test_uploads_of_an_account_are_limited(api, settings, folder):
    settings.MAX_INPUT_BYTES = len(PNG)
    assert upload(api).status_code == 200
    answer = upload(api)
    assert refusal(answer)[:2] == (429, "TASK_QUEUE_LIMIT_EXCEEDED")
    assert answer.json()["error"]["message"].startswith(f"input_reference: this upload has {len(PNG)} bytes")
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1


def test_a_repeated_upload_is_the_same_video_and_stored_once(api, folder):
    first = upload(api, Idempotency_Key="order-1")
    raw, content_type = form(*ASKED.items(), ("input_reference", PNG), boundary="another")
    again = api.send("POST", "/v1/videos", raw, content_type=content_type, Idempotency_Key="order-1")
    assert (again.json(), "Idempotency-Body-Mismatch" in again.headers) == (first.json(), False)
    other = upload(api, picture("JPEG"), Idempotency_Key="order-1")
    assert (other.json(), other.headers["Idempotency-Body-Mismatch"]) == (first.json(), "true")
    assert len([path for path in folder.rglob("*") if path.is_file()]) == 1
