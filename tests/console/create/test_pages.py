"""The pages of Create: cards with prices and samples, and forms that begin with what a key has made."""

import re

import pytest
from django.db.models.functions import Now

from catalog.models import ModelName
from tasks import switches
from tasks.models import Asset, Task, TaskPayload
from tests.rows import make_model, make_route
from tests.tasks.request.param_requests import data_url
from tests.tasks.steps import lasted
from tests.tasks_api.asking import end

CARDS = "/console/create/"
FORM = "/console/create/aurora-image/"
FILM = "/console/create/comet-video/"


def text_of(answer) -> str:
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def of_name(page: str, name: str) -> list[str]:
    """What stands in the fields of this name."""
    return re.findall(rf'name="{re.escape(name)}"[^>]* value="([^"]*)"', page)


def test_cards_show_names_prices_and_times(visitor, image_model, video_model, api):
    task_id = api.submitted()
    end(task_id, "succeeded")
    lasted(task_id, 12.5)
    page = text_of(visitor.get(CARDS))
    assert "$0.04 per picture at 1K, $0.08 at 2K" in page
    assert "$0.10 per second at 720p, $0.20 otherwise" in page
    assert "Usually 12 s" in page
    assert page.index("Pictures") < page.index("Films")


def test_a_card_shows_the_latest_own_result_and_nobody_elses(visitor, sign_in, other_key, image_model, api):
    first, second = api.submitted(), api.submitted()
    end(first, "succeeded")
    end(second, "succeeded")
    assert f"/assets/{second}/0.png?" in text_of(visitor.get(CARDS))
    assert "/assets/" not in text_of(sign_in(other_key).get(CARDS))


def test_a_price_per_request_is_told_per_picture(visitor, plan, image_channel):
    model = make_model("flat", "image", plan=plan, prices={"*": "0.25"}, pricing_mode="per_request")
    make_route(plan, model, image_channel, upstream_model="gpt-image-2")
    assert "$0.25 per picture<" in text_of(visitor.get(CARDS))


def test_a_key_without_models_is_told_what_to_do(visitor):
    assert "Your key cannot run a model yet" in text_of(visitor.get(CARDS))


@pytest.mark.parametrize("path", [CARDS, FORM])
def test_a_pause_is_told_in_the_operators_words(visitor, image_model, path):
    switches.pause(message="We move the <b>studio</b> until noon.")
    page = text_of(visitor.get(path))
    assert "We move the &lt;b&gt;studio&lt;/b&gt; until noon." in page


def test_an_unknown_model_is_not_found_and_an_alias_is(visitor, image_model):
    ModelName.objects.create(model=image_model, modality="image", name="aurora")
    assert visitor.get("/console/create/aurora/").status_code == 200
    assert visitor.get("/console/create/borealis/").status_code == 404
    assert visitor.post("/console/quote/borealis/").status_code == 404


@pytest.mark.parametrize(
    "name", ["a/b c?d#e", '"><script>alert(1)</script>', "ü%2f"], ids=["path", "markup", "escapes"]
)
def test_a_hostile_name_of_a_model_does_no_harm(visitor, plan, image_channel, name):
    model = make_model(name, "image", plan=plan, prices={"*": "0.25"}, pricing_mode="per_request")
    make_route(plan, model, image_channel, upstream_model="gpt-image-2")
    page = text_of(visitor.get(CARDS))
    assert "<script>alert" not in page
    address = re.search(r'class="card" href="([^"]+)"', page)[1].replace("&#x27;", "'")
    assert "<script>alert" not in text_of(visitor.get(address))


def test_a_name_in_two_modalities_has_two_forms(visitor, image_model, plan, video_channel):
    twin = make_model("aurora-image", "video", plan=plan, prices={"*": "0.1"})
    make_route(plan, twin, video_channel, upstream_model="seedance-1")
    assert {"image", "video"} == set(re.findall(r"modality=(\w+)", text_of(visitor.get(CARDS))))
    assert 'name="params.duration"' in text_of(visitor.get(f"{FORM}?modality=video"))
    assert 'name="params.duration"' not in text_of(visitor.get(f"{FORM}?modality=image"))


def test_a_form_tells_its_price_before_anything_is_typed(visitor, image_model):
    page = text_of(visitor.get(FORM))
    assert "Run<span data-run> · $0.04</span>" in page
    assert "Leaves $9.96 of your balance" in page
    assert 'aria-invalid="true"' not in page


def test_a_result_of_ones_own_is_an_input_and_a_foreign_one_is_unknown(visitor, sign_in, other_key, image_model, api):
    task_id = api.submitted()
    end(task_id, "succeeded")
    page = text_of(visitor.get(FORM, {"input": f"{task_id}/0"}))
    assert of_name(page, "params.images.own") == [f"{task_id}/0"]
    assert f'<img src="/assets/{task_id}/0.png?' in page
    foreign = sign_in(other_key).get(FORM, {"input": f"{task_id}/0"})
    unknown = visitor.get(FORM, {"input": "task_01m83y8vzq3pjgrw82c5571hra/0"})
    assert (foreign.status_code, unknown.status_code) == (404, 404)
    assert f"{CARDS}aurora-image/?input={task_id}%2F0" in text_of(visitor.get(CARDS, {"input": f"{task_id}/0"}))


@pytest.mark.parametrize(
    "place", ["x", "../../0", "task_01m83y8vzq3pjgrw82c5571hra/99999", "\0", "/" * 9000], ids=range(5)
)
def test_what_names_no_result_is_unknown(visitor, image_model, place):
    assert visitor.get(FORM, {"input": place}).status_code == 404
    assert visitor.get(FORM, {"again": place}).status_code == 404


def test_a_result_goes_into_the_first_frame_of_a_film(visitor, image_model, video_model, api):
    task_id = api.submitted()
    end(task_id, "succeeded")
    page = text_of(visitor.get(FILM, {"input": f"{task_id}/0"}))
    assert of_name(page, "params.inputs.image.first_frame.own") == [f"{task_id}/0"]


def test_again_fills_in_what_a_task_asked_for(visitor, image_model, api):
    source = api.submitted()
    end(source, "succeeded")
    own = api.task(source)["assets"][0]["url"]
    images = [{"image_url": own}, {"image_url": "https://cdn.example.com/a.png"}, {"image_url": data_url()}]
    body = {
        "model": "aurora-image",
        "modality": "image",
        "params": {"prompt": "a fox\nruns", "n": 3, "image_size": "2K", "images": images},
        "metadata": {"order": 7},
    }
    page = text_of(visitor.get(FORM, {"again": api.submit(body).json()["id"]}))
    assert "a fox\nruns</textarea>" in page
    assert of_name(page, "params.n") == ["3"]
    assert re.search(r'name="params.image_size" value="1" checked', page)
    assert of_name(page, "params.images.own") == [f"{source}/0"]
    assert "https://cdn.example.com/a.png</textarea>" in page
    assert "&quot;order&quot;: 7" in page
    assert "1 input of that task no longer available" in page


def test_again_keeps_the_words_of_a_film(visitor, video_model, api):
    params = {"prompt": "x", "duration": 8, "resolution": "4k", "aspect_ratio": "1:1", "generate_audio": False}
    body = {"model": "comet-video", "modality": "video", "params": params}
    page = text_of(visitor.get(FILM, {"again": api.submit(body).json()["id"]}))
    assert of_name(page, "params.resolution.other") == ["4k"]
    assert re.search(r'name="params.generate_audio" value="1" checked', page)
    assert of_name(page, "params.duration") == ["8"]


def test_again_of_a_foreign_task_is_unknown(sign_in, other_key, image_model, api):
    assert sign_in(other_key).get(FORM, {"again": api.submitted()}).status_code == 404


def test_again_of_what_is_deleted_says_so(visitor, image_model, api):
    task_id = api.submitted()
    TaskPayload.objects.filter(task_id=task_id).update(params=None)
    assert "has been deleted" in text_of(visitor.get(FORM, {"again": task_id}))


def test_what_a_synchronous_call_made_is_no_sample_and_no_request_to_repeat(visitor, image_model, api):
    task_id = api.submitted()
    end(task_id, "succeeded")
    Task.objects.filter(pk=task_id).update(origin="sync")
    assert "/assets/" not in text_of(visitor.get(CARDS))
    assert visitor.get(FORM, {"again": task_id}).status_code == 404


def test_a_card_shows_the_latest_result_that_is_still_there(visitor, image_model, api):
    kept, deleted = api.submitted(), api.submitted()
    end(kept, "succeeded")
    end(deleted, "succeeded")
    Asset.objects.filter(task_id=deleted).update(deleted_at=Now())
    assert f"/assets/{kept}/0.png?" in text_of(visitor.get(CARDS))
    assert visitor.get(FORM, {"input": f"{deleted}/0"}).status_code == 410
