"""From a request to files and a bill: image, video, chains, failures, and the wait for them."""

import hashlib
from io import BytesIO

import pytest
from PIL import Image

from tests.flows.conftest import ended, submitted
from tests.tasks.request.param_requests import media
from tests.tasks_api.asking import image_task, video_task

NOWHERE = "task_00000000000000000000000000"


def path_of(service, url: str) -> str:
    assert url.startswith(service.stack.base_url)
    return url.removeprefix(service.stack.base_url)


def test_an_image_task_ends_with_its_pictures_and_its_bill(service):
    task = ended(service.client, submitted(service.client, image_task(n=2, image_size="2K")))
    assert (task["status"], task["estimated_cost"], task["actual_cost"]) == ("succeeded", 0.16, 0.16)
    assert [asset["index"] for asset in task["assets"]] == [0, 1]
    for asset in task["assets"]:
        content = service.client.get(f"/v1/tasks/{task['id']}/assets/{asset['index']}").content
        assert hashlib.sha256(content).hexdigest() == asset["sha256"]
        assert Image.open(BytesIO(content)).size == (2048, 2048) == (asset["width"], asset["height"])


def test_a_video_task_ends_with_a_film_of_the_asked_length(service):
    task = ended(service.client, submitted(service.client, video_task(duration=3)))
    (asset,) = task["assets"]
    assert (task["status"], task["actual_cost"], task["result"]["duration"]) == ("succeeded", 0.3, 3)
    assert (asset["kind"], asset["content_type"]) == ("video", "video/mp4")
    assert asset["duration"] == pytest.approx(3, abs=0.1)


def test_a_signed_url_opens_without_a_key_and_no_other_does(service):
    task = ended(service.client, submitted(service.client, image_task()))
    signed = path_of(service, task["result"]["data"][0]["url"])
    anyone = service.stack.client()
    assert anyone.get(signed).headers["Content-Type"] == "image/png"
    assert anyone.get(signed.replace("/0.png", "/1.png")).status_code == 403
    assert anyone.get(f"/v1/tasks/{task['id']}/assets/0").status_code == 401


def test_an_own_asset_is_the_input_of_the_next_task(service):
    first = ended(service.client, submitted(service.client, image_task()))
    url = first["assets"][0]["url"]
    reference = f"asset:{first['id']}/0"
    edit = submitted(service.client, image_task(images=[{"image_url": url}, {"image_url": reference}]))
    film = submitted(service.client, video_task(inputs=[media(url=reference, role="first_frame")]))
    assert ended(service.client, edit)["status"] == "succeeded"
    assert ended(service.client, film)["status"] == "succeeded"
    trace = service.client.get(f"/v1/tasks/{film}/trace").json()
    assert trace["inputs"] == [{"field": "params.inputs[0].url", "reference": reference}]


def test_a_signed_url_and_another_keys_result_are_no_input_of_a_film(service):
    task = ended(service.client, submitted(service.client, image_task()))
    for client, url in (
        (service.client, task["assets"][0]["url"]),
        (service.other_client, f"asset:{task['id']}/0"),
        (service.client, f"asset:{NOWHERE}/0"),
    ):
        response = client.post("/v1/tasks", json=video_task(inputs=[media(url=url)]))
        assert response.status_code == 400
        assert response.json()["error"]["message"].startswith("params.inputs[0].url ")


def test_a_moderated_task_fails_in_our_words_and_costs_nothing(service):
    task = ended(service.client, submitted(service.client, image_task(prompt="a fox [moderated]")))
    assert (task["status"], task["actual_cost"], task["assets"]) == ("failed", 0, [])
    assert (task["error"]["type"], task["error"]["retryable"]) == ("TASK_CONTENT_REJECTED", False)
    assert set(task["error"]) == {"type", "message", "retryable"}


def test_a_partial_result_is_billed_by_what_was_delivered(service):
    task = ended(service.client, submitted(service.client, image_task(prompt="foxes [partial]", n=3)))
    assert (task["estimated_cost"], task["actual_cost"], len(task["assets"])) == (0.12, 0.08, 2)


def test_the_ledger_is_right_after_all_of_it(service):
    ended(service.client, submitted(service.client, image_task()))
    assert service.stack.manage_json("check_ledger")["breaches"] == []


def test_a_post_that_prefers_to_wait_answers_200_with_the_ended_task(service):
    response = service.client.post("/v1/tasks", json=image_task(), headers={"Prefer": "wait=100000000000"})
    assert (response.status_code, response.json()["status"]) == (200, "succeeded")
    assert response.headers["Preference-Applied"] == "wait=60"


def test_a_foreign_task_is_as_unknown_as_one_that_never_was(service):
    task = ended(service.client, submitted(service.client, image_task()))
    for path in ("", "/assets/0", "?wait=5"):
        foreign = service.other_client.get(f"/v1/tasks/{task['id']}{path}")
        unknown = service.other_client.get(f"/v1/tasks/{NOWHERE}{path}")
        assert (foreign.status_code, foreign.content) == (404, unknown.content), path
        assert foreign.json()["error"]["type"] == "TASK_NOT_FOUND", path
