"""POST /v1/videos: a submission in OpenAI's words, as the SDK sends it, with or without a form."""

import pytest

from accounts.models import Account
from catalog.models import ChannelModel, ModelName
from tasks import switches
from tasks.models import Task, TaskPayload
from tests.rows import make_key
from tests.tasks_api.asking import Api, end
from tests.tasks_api.openai.forms import form
from tests.tasks_api.videos.asking import FIELDS, refusal, video_id

ASKED = {"model": "comet-video", "prompt": "a fox runs", "seconds": "5", "size": "1280x720"}


def create(api, body=None, **headers):
    return api.send("POST", "/v1/videos", ASKED if body is None else body, **headers)


def create_form(api, *parts, **headers):
    raw, content_type = form(*parts)
    return api.send("POST", "/v1/videos", raw, content_type=content_type, **headers)


def params_of(answer):
    assert answer.status_code == 200, answer.content
    return TaskPayload.objects.get(task_id="task_" + answer.json()["id"].removeprefix("video_")).params


@pytest.mark.parametrize("send", [create, lambda api: create_form(api, *ASKED.items())], ids=["json", "form"])
def test_a_new_video_is_a_queued_task_and_answers_200_with_the_object(api, video_model, send):
    answer = send(api)
    shown = answer.json()
    task = Task.objects.get()
    assert (answer.status_code, list(shown), shown["id"]) == (200, FIELDS, video_id(task))
    assert (shown["status"], shown["seconds"], shown["size"]) == ("queued", "5", "1280x720")
    assert answer.headers["openai-poll-after-ms"] == "1000"
    assert shown == api.get(f"/v1/videos/{shown['id']}").json()
    assert (task.origin, task.modality, task.estimated_micros) == ("videos", "video", 500_000)
    asked = {"prompt": "a fox runs", "duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
    assert TaskPayload.objects.get().params == asked


def test_it_is_a_task_like_any_other(api, video_model):
    create(api)
    task = Task.objects.get()
    assert api.task(task.pk)["status"] == "queued"
    assert [shown["id"] for shown in api.get("/v1/tasks").json()["data"]] == [task.pk]
    assert Account.objects.get(pk=task.account_id).held_micros == 500_000


def test_seconds_and_size_have_defaults(api, video_model):
    params = params_of(create(api, {"model": "comet-video", "prompt": "a fox"}))
    assert (params["duration"], params["resolution"], params["aspect_ratio"]) == (4, "720p", "16:9")


@pytest.mark.parametrize(
    ("size", "resolution", "ratio"),
    [("720x1280", "720p", "9:16"), ("1792x1024", "1024p", "16:9"), ("1080x1080", "1080p", "1:1")],
)
def test_a_size_is_a_resolution_and_the_nearest_ratio_and_is_shown_as_it_was_sent(
    api, video_model, size, resolution, ratio
):
    ChannelModel.objects.update(capabilities={"ratios": ["16:9", "9:16", "1:1"], "resolutions": [resolution]})
    answer = create(api, {**ASKED, "size": size})
    params = params_of(answer)
    assert (params["resolution"], params["aspect_ratio"]) == (resolution, ratio)
    assert answer.json()["size"] == size == api.get(f"/v1/videos/{answer.json()['id']}").json()["size"]


def test_seconds_may_be_a_number_and_the_model_an_alias(api, video_model):
    ModelName.objects.create(model=video_model, modality="video", name="comet", is_primary=False)
    answer = create(api, {**ASKED, "seconds": 8, "model": "comet"})
    assert (params_of(answer)["duration"], answer.json()["model"]) == (8, "comet")


def test_any_other_field_is_an_option_of_the_provider(api, video_model):
    assert params_of(create(api, {**ASKED, "seed": 7, "tail": None}))["provider_options"] == {"seed": 7}
    parts = [*ASKED.items(), ("seed", "-1"), ("watermark", "true"), ("camera_fixed", "false")]
    sent = params_of(create_form(api, *parts))["provider_options"]
    assert sent == {"seed": -1, "watermark": True, "camera_fixed": False}


def test_a_first_frame_may_be_a_url(api, video_model):
    url = "https://cdn.example.com/a.png"
    frame = [{"type": "image", "role": "first_frame", "url": url, "id": None}]
    assert params_of(create(api, {**ASKED, "input_reference": {"image_url": url}}))["inputs"] == frame
    assert params_of(create_form(api, *ASKED.items(), ("input_reference[image_url]", url)))["inputs"] == frame


WRONG = [
    ({"prompt": None}, "prompt"),
    ({"prompt": " "}, "prompt"),
    ({"model": None}, "model"),
    ({"seconds": 0}, "seconds"),
    ({"seconds": "4.5"}, "seconds"),
    ({"seconds": True}, "seconds"),
    ({"seconds": "86401"}, "seconds"),
    pytest.param({"seconds": "9" * 5_000}, "seconds", id="5000-digits"),
    ({"size": "720p"}, "size"),
    ({"size": 720}, "size"),
    ({"size": ""}, "size"),
    ({"size": "0x720"}, "size"),
    ({"input_reference": "https://cdn.example.com/a.png"}, "input_reference"),
    ({"input_reference": {}}, "input_reference.image_url"),
    ({"input_reference": {"file_id": "file-1"}}, "input_reference.file_id"),
    ({"input_reference": {"image_url": "http://127.0.0.1/a.png"}}, "input_reference"),
    ({"callback_url": "https://example.com/"}, "callback_url"),
    ({"plan": "gold"}, "plan"),
    ({"duration": 5}, "duration"),
    ({"inputs": []}, "inputs"),
    ({"stream": True}, "stream"),
    ({"api_key": "x"}, "api_key"),
]


@pytest.mark.parametrize(("change", "field"), WRONG, ids=str)
def test_a_bad_field_is_named_as_the_client_knows_it_and_nothing_is_stored(api, video_model, change, field):
    answer = create(api, {**ASKED, **change})
    assert refusal(answer) == (400, "TASK_INVALID_REQUEST", field)
    assert answer.json()["error"]["message"].startswith(f"{field} ")
    assert not Task.objects.exists()


@pytest.mark.parametrize(
    ("change", "field"), [({"sparkle": 1}, "sparkle"), ({"params.x": 1}, '"params.x"'), ({"size": "400x300"}, "size")]
)
def test_what_no_route_takes_is_named_too(api, video_model, change, field):
    ChannelModel.objects.update(capabilities={"ratios": ["16:9"], "resolutions": ["720p"]})
    answer = create(api, {**ASKED, **change})
    assert refusal(answer)[:2] == (400, "TASK_NO_CAPABLE_ROUTE")
    assert field.strip('"') in answer.json()["error"]["message"]
    assert "params.provider" not in answer.json()["error"]["message"]


def test_a_model_that_is_none_of_the_keys_films_is_named(api, video_model, image_model):
    assert refusal(create(api, {**ASKED, "model": "sora-2"})) == (400, "TASK_UNSUPPORTED_MODEL", "model")
    assert refusal(create(api, {**ASKED, "model": "aurora-image"})) == (400, "TASK_UNSUPPORTED_ADAPTER", "model")


def test_bodies_that_cannot_be_read_are_refused(api, video_model):
    assert refusal(create(api, b"[]")) == (400, "TASK_INVALID_REQUEST", None)
    assert refusal(create(api, b"a=b", content_type="text/plain"))[:2] == (415, "TASK_UNSUPPORTED_MEDIA_TYPE")
    assert refusal(create_form(api, ("prompt", "a"), ("prompt", "b")))[2] == "prompt"
    assert refusal(create_form(api, ("seconds", b"a file")))[2] == "seconds"
    assert refusal(create(api, ASKED | {"x": 1}, **{"Content-Encoding": "gzip"}))[0] == 415


class TestIdempotency:
    def test_a_repeated_post_is_the_same_video(self, api, video_model):
        first = create_form(api, *ASKED.items(), Idempotency_Key="order-1")
        raw, content_type = form(*ASKED.items(), boundary="another")
        again = api.send("POST", "/v1/videos", raw, content_type=content_type, Idempotency_Key="order-1")
        assert (again.status_code, again.json()) == (200, first.json())
        assert again.headers["Idempotency-Replayed"] == "true"
        assert "Idempotency-Body-Mismatch" not in again.headers
        assert Task.objects.count() == 1

    def test_another_body_is_a_mismatch_and_still_the_same_video(self, api, video_model):
        create(api, Idempotency_Key="order-1")
        for body in ({**ASKED, "seconds": 8}, b"nonsense"):
            again = create(api, body, Idempotency_Key="order-1")
            assert (again.status_code, again.json()["seconds"]) == (200, "5")
            assert again.headers["Idempotency-Body-Mismatch"] == "true"

    def test_a_replay_answers_during_a_pause_and_tells_the_current_status(self, api, video_model):
        create(api, Idempotency_Key="order-1")
        end(Task.objects.get().pk, "canceled")
        switches.pause()
        assert create(api, Idempotency_Key="order-1").json()["status"] == "failed"
        assert refusal(create(api)) == (503, "TASK_API_PAUSED", None)

    def test_a_key_that_made_no_video_is_named_and_not_tried_again(self, api, video_model, image_model):
        api.submitted(Idempotency_Key="order-1")
        answer = create(api, Idempotency_Key="order-1")
        assert refusal(answer) == (400, "TASK_INVALID_REQUEST", "Idempotency-Key")
        assert answer.headers["x-should-retry"] == "false"


def test_limits_and_money_are_those_of_tasks(api, api_of, key, account, other_account, video_model):
    type(key.record).objects.filter(pk=key.id).update(max_queued=1)
    create(api)
    assert refusal(create(api)) == (429, "TASK_QUEUE_LIMIT_EXCEEDED", None)
    Account.objects.filter(pk=other_account.pk).update(balance_micros=0)
    poor = api_of(make_key(other_account))
    assert refusal(create(poor)) == (403, "TASK_INSUFFICIENT_BALANCE", None)
    Account.objects.filter(pk=other_account.pk).update(billing="subscription")
    assert refusal(create(poor)) == (403, "TASK_BILLING_UNSUPPORTED", None)
    assert create(poor).headers["x-should-retry"] == "false"


def test_without_a_key_it_is_401(client, video_model):
    assert refusal(create(Api(client))) == (401, "authentication_error", None)
