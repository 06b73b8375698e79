"""What an image call in OpenAI's words becomes, and in whose words it is refused. Here it ends where the task is there;
`tests/front/test_image_calls.py` waits for it."""

import json
import re

import pytest

from catalog.models import ChannelModel
from tasks import switches
from tasks.models import Task, TaskPayload
from tests.rows import make_key
from tests.tasks.request.param_requests import CONTENTS, data_url
from tests.tasks_api.asking import video_task
from tests.tasks_api.openai.forms import form

GENERATIONS, EDITS = "/v1/images/generations", "/v1/images/edits"
PNG, WEBP = CONTENTS["image/png"], CONTENTS["image/webp"]
SIMPLE = {"model": "aurora-image", "prompt": "a boat"}
URL = "https://example.com/boat.png"
NEEDED = (("model", "aurora-image"), ("prompt", "a boat"))


def call(api, sent, path: str = GENERATIONS, **headers: str):
    """JSON, or the parts of a form."""
    if isinstance(sent, dict):
        return api.send("POST", path, sent, **headers)
    raw, content_type = form(*NEEDED, *sent)
    return api.send("POST", path, raw, content_type=content_type, **headers)


def params() -> dict:
    return TaskPayload.objects.get().params


def error_of(response) -> dict:
    (error,) = json.loads(response.content).values()
    return {"status": response.status_code, "type": error["type"], "param": error["param"]}


@pytest.fixture
def judged(image_model):
    """The channel model may take these fields."""
    ChannelModel.objects.update(extra_fields=["quality", "user"])


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (SIMPLE, {}),
        (SIMPLE | {"n": 2, "size": "auto", "stream": False, "partial_images": 0, "response_format": "url"}, {"n": 2}),
        (SIMPLE | {"n": None, "size": None, "stream": None, "partial_images": None, "mask": None}, {}),
        (SIMPLE | {"n": "3"}, {"n": 3}),
        (SIMPLE | {"size": "2K"}, {"image_size": "2K"}),
        (SIMPLE | {"size": "1024x1024"}, {"image_size": "1K"}),
        (
            SIMPLE | {"background": "opaque", "output_compression": 50},
            {"background": "opaque", "output_compression": 50},
        ),
        (SIMPLE | {"images": [{"image_url": URL}]}, {"images": [{"image_url": URL}]}),
        (SIMPLE | {"image": URL}, {"images": [{"image_url": URL}]}),
        (SIMPLE | {"image": [URL, URL]}, {"images": [{"image_url": URL}] * 2}),
        ([("n", "2"), ("size", "2K"), ("stream", "False")], {"n": 2, "image_size": "2K"}),
        ([("background", "opaque"), ("output_compression", "50")], {"background": "opaque", "output_compression": 50}),
    ],
)
def test_what_is_sent_becomes_the_tasks_params(api, image_model, sent, expected):
    response = call(api, sent)
    assert response.status_code == 202, response.content
    stored = params()
    options = stored.pop("extra_body", {})
    asked = {"prompt": "a boat", "image_size": "1K", "aspect_ratio": "1:1"}
    assert stored | options == asked | expected
    task = Task.objects.get()
    assert (task.origin, task.modality, task.id) == ("sync", "image", response.json()["id"])


@pytest.mark.parametrize(
    ("parts", "types"),
    [
        ([("image", PNG)], ["image/png"]),
        ([("image[]", WEBP), ("image[]", PNG)], ["image/webp", "image/png"]),
    ],
)
def test_the_files_of_a_form_become_the_references_as_what_their_bytes_are(api, image_model, parts, types):
    assert call(api, parts, EDITS).status_code == 202
    assert [image["stored"]["content_type"] for image in params()["images"]] == types
    assert Task.objects.get().input_bytes == sum(len(content) for _, content in parts)


@pytest.mark.parametrize(
    "sent",
    [
        [("image", PNG), ("mask", WEBP)],
        SIMPLE | {"image": data_url(), "mask": {"image_url": data_url("image/webp")}},
        SIMPLE | {"image": data_url(), "mask": data_url("image/webp")},
    ],
)
def test_a_mask_is_carried_beside_the_image(api, image_model, sent):
    assert call(api, sent, EDITS).status_code == 202
    assert params()["mask"]["stored"]["content_type"] == "image/webp"
    assert Task.objects.get().input_bytes == len(PNG) + len(WEBP)


@pytest.mark.parametrize(
    ("sent", "param"),
    [
        ({"prompt": "a boat"}, "model"),
        ({"model": "aurora-image"}, "prompt"),
        (SIMPLE | {"n": 5}, "n"),
        (SIMPLE | {"n": True}, "n"),
        (SIMPLE | {"n": "two"}, "n"),
        (SIMPLE | {"size": "3000x1000"}, "size"),
        (SIMPLE | {"size": 5}, "size"),
        (SIMPLE | {"response_format": "png"}, "response_format"),
        (SIMPLE | {"stream": True}, "stream"),
        (SIMPLE | {"stream": "yes"}, "stream"),
        (SIMPLE | {"partial_images": 2}, "partial_images"),
        (SIMPLE | {"metadata": {}}, "metadata"),
        (SIMPLE | {"callback_url": URL}, "callback_url"),
        (SIMPLE | {"plan": "standard"}, "plan"),
        (SIMPLE | {"images": [{"image_url": "no-url"}]}, "images[0].image_url"),
        (SIMPLE | {"images": [{"image_url": URL}] * 5}, "images"),
        (SIMPLE | {"images": [{"file_id": "file-1"}]}, "images[0].file_id"),
        (SIMPLE | {"images": {"image_url": URL}}, "images"),
        (SIMPLE | {"images": [{"image_url": URL}], "image": URL}, "image"),
        (SIMPLE | {"image": [URL] * 5}, "image"),
        (SIMPLE | {"image": 5}, "image"),
        (SIMPLE | {"api_key": "sk-1"}, "api_key"),
        ([("stream", "true")], "stream"),
        ([("n", "")], "n"),
        ([("image", b"a text")], "image"),
        ([("image[]", PNG)] * 5, "image"),
        ([("image", b"")], "image"),
        ([("mask", b"a text")], "mask"),
        ([("image", PNG), ("mask", CONTENTS["image/jpeg"])], "mask"),
        ([("n", "1"), ("n", "1")], "n"),
    ],
)
def test_a_bad_field_is_named_as_the_client_knows_it(api, image_model, sent, param):
    response = call(api, sent)
    assert error_of(response) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": param}
    assert json.loads(response.content)["error"]["message"].startswith(param)
    assert not Task.objects.exists()


def test_what_is_refused_before_any_field_is_read_is_named_too(api, image_model):
    for sent, headers, param in (
        (SIMPLE | {"user": "a\0"}, {}, "user"),
        (SIMPLE, {"Idempotency_Key": ""}, "Idempotency-Key"),
    ):
        response = call(api, sent, **headers)
        assert error_of(response) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": param}
        assert json.loads(response.content)["error"]["message"].startswith(f"{param}: ")


@pytest.mark.parametrize("sent", [SIMPLE, SIMPLE | {"mask": URL}, [("mask", PNG)]])
def test_an_edit_needs_an_image(api, image_model, sent):
    assert error_of(call(api, sent, EDITS)) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": "image"}


def test_a_mask_needs_an_image_everywhere(api, image_model):
    response = call(api, SIMPLE | {"mask": {"image_url": data_url()}})
    assert error_of(response) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": "image"}


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (SIMPLE | {"quality": "high"}, "quality"),
        (SIMPLE | {"svg[model]": "x"}, "svg[model]"),
        (SIMPLE | {"params": "x"}, "params"),
        (SIMPLE | {"params.extra_body.x": "x"}, "params.extra_body.x"),
        (SIMPLE | {"x params.images[0].image_url": "x"}, "x params.images[0].image_url"),
        ([("quality", "high")], "quality"),
    ],
)
def test_a_field_that_no_route_takes_is_named_as_it_was_sent(api, image_model, sent, field):
    response = call(api, sent)
    assert error_of(response) == {"status": 400, "type": "TASK_NO_CAPABLE_ROUTE", "param": field}
    message = json.loads(response.content)["error"]["message"]
    assert re.fullmatch(f"No available route supports this request. {re.escape(field)}: [a-z ]+.*", message)


@pytest.mark.parametrize(
    ("sent", "field"), [({"size": "2048x2048"}, "size"), ({"size": "2K"}, "size"), ({"n": 3}, "n")]
)
def test_what_no_route_can_express_is_not_offered(api, image_model, sent, field):
    ChannelModel.objects.update(capabilities={"tiers": ["1K"], "max_n": 2})
    assert error_of(call(api, SIMPLE | sent)) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": field}


def test_a_field_that_the_operator_lets_pass_is_used(api, judged):
    assert call(api, SIMPLE | {"quality": "high", "user": "u-1"}).status_code == 202
    assert params()["extra_body"] == {"quality": "high", "user": "u-1"}


@pytest.mark.parametrize(
    ("model", "error_type"), [("unheard-of", "TASK_UNSUPPORTED_MODEL"), ("comet-video", "TASK_UNSUPPORTED_ADAPTER")]
)
def test_another_model_is_named_as_the_model(api, image_model, video_model, model, error_type):
    response = call(api, SIMPLE | {"model": model})
    assert error_of(response) == {"status": 400, "type": error_type, "param": "model"}
    assert json.loads(response.content)["error"]["message"].startswith("model: ")


def test_a_general_key_hears_the_interfaces_words(api_of, account):
    general = api_of(make_key(account, binding="general"))
    for path in (GENERATIONS, EDITS):
        response = call(general, SIMPLE, path)
        assert (response.status_code, json.loads(response.content)["error"]) == (
            404,
            {
                "message": "Images API is not supported for this platform",
                "type": "not_found_error",
                "param": None,
                "code": "not_found_error",
            },
        )
    switches.disable_api()
    assert error_of(call(general, SIMPLE))["type"] == "TASK_API_DISABLED"


def test_a_key_without_the_task_api_is_out_of_scope(api_of, account):
    assert error_of(call(api_of(make_key(account, task_api=False)), SIMPLE))["type"] == "TASK_SCOPE_REQUIRED"


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_post_is_there(api, method):
    response = api.send(method, EDITS)
    assert (response.status_code, response.headers["Allow"]) == (405, "POST")


def test_any_other_path_of_images_is_unknown(api):
    assert error_of(api.send("POST", "/v1/images/variations", SIMPLE))["type"] == "TASK_NOT_FOUND"


def test_the_order_of_checks_is_that_of_a_submission(api, image_model, settings, key):
    """Each line mends what the line before found."""
    spoilt = {"content_type": "text/plain", "Idempotency_Key": "k" * 256}
    settings.RATE_LIMITS = {"submit": 0}
    switches.pause()
    type(key.account).objects.update(billing="subscription")

    def answer() -> tuple[int, str]:
        error = error_of(api.send("POST", GENERATIONS, {"prompt": 1, "model": "unheard-of"}, **spoilt))
        return error["status"], error["type"]

    assert answer() == (400, "TASK_INVALID_REQUEST")
    spoilt["Idempotency_Key"] = "k"
    assert answer() == (429, "TASK_RATE_LIMITED")
    settings.RATE_LIMITS = {}
    assert answer() == (503, "TASK_API_PAUSED")
    switches.resume()
    assert answer() == (403, "TASK_BILLING_UNSUPPORTED")
    type(key.account).objects.update(billing="balance", balance_micros=0)
    assert answer() == (415, "TASK_UNSUPPORTED_MEDIA_TYPE")
    spoilt["content_type"] = "application/json"
    assert answer() == (400, "TASK_INVALID_REQUEST")
    assert error_of(call(api, SIMPLE, Idempotency_Key="k"))["type"] == "TASK_INSUFFICIENT_BALANCE"


def test_a_replay_shows_its_task_and_says_where_the_body_differs(api, image_model):
    first = call(api, [("image", PNG)], EDITS, Idempotency_Key="k").json()["id"]
    raw, content_type = form(*NEEDED, ("image", PNG), boundary="another")
    again = api.send("POST", EDITS, raw, content_type=content_type, Idempotency_Key="k")
    other = call(api, [("image", WEBP)], EDITS, Idempotency_Key="k")
    broken = api.send("POST", EDITS, b"{", Idempotency_Key="k")
    assert {response.json()["id"] for response in (again, other, broken)} == {first}
    assert "Idempotency-Body-Mismatch" not in again.headers
    assert other.headers["Idempotency-Body-Mismatch"] == broken.headers["Idempotency-Body-Mismatch"] == "true"


def test_an_idempotency_key_of_a_film_is_none_for_a_picture(api, image_model, video_model):
    api.submitted(video_task(), Idempotency_Key="k")
    response = call(api, SIMPLE, Idempotency_Key="k")
    assert error_of(response) == {"status": 400, "type": "TASK_INVALID_REQUEST", "param": "Idempotency-Key"}
    assert response.headers["x-should-retry"] == "false"


def test_such_a_task_is_in_no_list_and_found_by_its_id(api, image_model):
    task_id = call(api, SIMPLE).json()["id"]
    assert api.get("/v1/tasks").json()["data"] == []
    assert api.task(task_id)["status"] == "queued"
