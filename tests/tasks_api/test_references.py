"""Results by reference, in every front that takes addresses of inputs."""

import pytest

from storage import blobs
from tasks.models import Task, TaskPayload
from tests.storage.conftest import folder, image, stored, video
from tests.tasks.request.param_requests import media
from tests.tasks_api.asking import error_of, image_task, named, refused, start, video_task
from tests.tasks_api.videos.asking import refusal, video_id

__all__ = ["folder", "image", "stored", "video"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("image_model", "video_model")]

NOBODYS = "asset:task_" + "0" * 26 + "/0"


@pytest.fixture
def reference(image):
    return f"asset:{image.task_id}/0"


def frame_of(reference):
    return video_task(inputs=[media(role="first_frame", url=reference)])


def stored_reference(task_id, name):
    (element,) = TaskPayload.objects.get(task_id=task_id).params[name]
    return element["stored"]["reference"]


def test_it_stands_for_a_picture_and_for_an_input(api, reference):
    assert stored_reference(api.submitted(image_task(images=[{"image_url": reference}])), "images") == reference
    assert stored_reference(api.submitted(frame_of(reference)), "inputs") == reference


def test_a_film_is_the_reference_of_another_film(api, video):
    reference = f"asset:{video.task_id}/0"
    task_id = api.submitted(video_task(inputs=[media(type="video", url=reference)]))
    assert stored_reference(task_id, "inputs") == reference


def test_anothers_result_is_refused_as_one_that_never_was(other_api, api, reference):
    for body_of in (frame_of, lambda given: image_task(images=[{"image_url": given}])):
        foreign, missing = other_api.submit(body_of(reference)), api.submit(body_of(NOBODYS))
        assert foreign.content == missing.content
        assert named(foreign) in ("params.inputs[0].url", "params.images[0].image_url")
    assert not Task.objects.filter(status="queued").exists()


def test_a_result_of_another_kind_is_refused_by_its_field(api, video):
    assert named(api.submit(frame_of(f"asset:{video.task_id}/0"))) == "params.inputs[0].url"


def test_the_quote_judges_it_alike(api, reference):
    assert api.quote(frame_of(reference)).status_code == 200
    assert named(api.quote(frame_of(NOBODYS))) == "params.inputs[0].url"


def test_the_trace_tells_what_was_sent(api, reference):
    pictures = [{"image_url": "https://cdn.example.com/a.png"}, {"image_url": reference}]
    seen = api.get(f"/v1/tasks/{api.submitted(image_task(images=pictures))}/trace").json()
    assert seen["inputs"] == [{"field": "params.images[1].image_url", "reference": reference}]
    assert api.get(f"/v1/tasks/{api.submitted()}/trace").json()["inputs"] == []


def test_a_video_of_the_other_front_begins_with_it(api, reference):
    asked = {"model": "comet-video", "prompt": "a fox", "input_reference": {"image_url": reference}}
    assert api.send("POST", "/v1/videos", asked).status_code == 200
    assert stored_reference(Task.objects.get(origin="videos").pk, "inputs") == reference
    asked["input_reference"]["image_url"] = NOBODYS
    assert refusal(api.send("POST", "/v1/videos", asked)) == (400, "TASK_INVALID_REQUEST", "input_reference")


def test_an_own_signed_url_begins_no_video_there_either(api, image):
    (asset,) = api.task(image.task_id)["assets"]
    asked = {"model": "comet-video", "prompt": "a fox", "input_reference": {"image_url": asset["url"]}}
    assert refusal(api.send("POST", "/v1/videos", asked)) == (400, "TASK_INVALID_REQUEST", "input_reference")


def test_an_edit_takes_it_as_its_picture_and_its_mask(api, reference):
    asked = {"model": "aurora-image", "prompt": "a fox", "images": [{"image_url": reference}]}
    assert api.send("POST", "/v1/images/edits", {**asked, "mask": {"image_url": reference}}).status_code == 202
    params = TaskPayload.objects.get(task__origin="sync").params
    assert params["images"][0]["stored"]["reference"] == params["mask"]["stored"]["reference"] == reference
    answer = api.send("POST", "/v1/images/edits", {**asked, "mask": {"image_url": NOBODYS}})
    assert answer.json()["error"]["message"].startswith("mask")


def test_its_file_cannot_be_deleted_while_a_live_task_takes_it(api, image, reference):
    task_id = api.submitted(frame_of(reference))
    start(task_id)
    answer = api.send("DELETE", f"/v1/tasks/{image.task_id}/assets")
    assert refused(answer) == (409, "TASK_ASSET_IN_USE")
    assert error_of(answer)["message"]
    blobs.open(image.storage_key).close()


def test_a_film_cannot_be_deleted_by_the_other_front_either(api, video):
    film = f"asset:{video.task_id}/0"
    api.submitted(video_task(inputs=[media(type="video", url=film)]))
    Task.objects.filter(pk=video.task_id).update(modality="video")
    answer = api.send("DELETE", f"/v1/videos/{video_id(video.task_id)}")
    assert refusal(answer) == (409, "TASK_ASSET_IN_USE", None)
    assert answer.headers["x-should-retry"] == "false"
