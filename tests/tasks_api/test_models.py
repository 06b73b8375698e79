"""GET /v1/tasks/models: what this key can run now, at its own prices; the only source of availability."""

import pytest
from jsonschema import Draft202012Validator

from catalog.models import ModelName, Plan, PlanChoice, Route
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route
from tests.tasks.steps import lasted
from tests.tasks_api.asking import end, image_task, video_task


def offered(api) -> dict[str, dict]:
    document = api.get("/v1/tasks/models").json()
    assert (list(document), document["object"]) == (["object", "data"], "list")
    return {model["id"]: model for model in document["data"]}


def test_an_image_model_shows_everything_of_the_contract(api, image_model):
    ModelName.objects.create(model=image_model, modality="image", name="aurora")
    model = offered(api)["aurora-image"]
    schema = model.pop("params_schema")
    assert model == {
        "id": "aurora-image",
        "aliases": ["aurora"],
        "modality": "image",
        "plan": {"name": "standard", "selected": False},
        "pricing": {"mode": "image_matrix", "currency": "USD", "unit": "image", "prices": {"1K": 0.04, "2K": 0.08}},
        "params": IMAGE_PARAMS,
        "inputs": {"max": 4, "roles": {"image": ["reference"]}},
        "eta_seconds": None,
    }
    Draft202012Validator.check_schema(schema)


def test_the_params_of_an_image_model_are_the_catalogs_verbatim(api, image_model):
    params = {**IMAGE_PARAMS, "n": {"max": 2, "note": "ours"}}
    image_model.params = params
    image_model.save()
    assert offered(api)["aurora-image"]["params"] == params


def test_a_video_model_shows_types_and_bounds_and_no_lists_of_values(api, video_model):
    model = offered(api)["comet-video"]
    assert model["pricing"] == {
        "mode": "video_duration",
        "currency": "USD",
        "unit": "second",
        "prices": {"720p": 0.1, "*": 0.2},
    }
    assert model["params"]["duration"] == {"type": "integer", "minimum": 1, "maximum": 86_400}
    assert model["params"]["resolution"] == {"type": "string"}
    assert all("type" in rule and "enum" not in rule for rule in model["params"].values())
    assert model["inputs"]["max"] == 16
    assert model["inputs"]["roles"] == {
        "image": ["first_frame", "last_frame", "reference"],
        "video": ["reference"],
        "audio": ["reference"],
    }


def test_a_video_models_catalog_params_are_not_advertised(api, video_model):
    video_model.params = {"resolution": {"values": ["720p"]}}
    video_model.save()
    assert b"720p" not in str(offered(api)["comet-video"]["params"]).encode()


def test_the_schema_accepts_what_is_submitted(api, image_model, video_model):
    models = offered(api)
    for body in (image_task(n=4), video_task(generate_audio=True)):
        Draft202012Validator(models[body["model"]]["params_schema"]).validate(body["params"])


def test_a_price_per_request_has_the_unit_request(api, plan, image_channel):
    model = make_model("flat", "image", plan=plan, prices={"*": "0.25"}, pricing_mode="per_request")
    make_route(plan, model, image_channel, upstream_model="gpt-image-2")
    pricing = offered(api)["flat"]["pricing"]
    assert (pricing["mode"], pricing["unit"], pricing["prices"]) == ("per_request", "request", {"*": 0.25})


def test_prices_and_plan_are_the_keys_own(api, other_api, key, image_model, image_channel):
    premium = Plan.objects.create(name="premium", price_multiplier="1.5")
    make_route(premium, image_model, image_channel, upstream_model="gpt-image-2")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=premium)
    mine, theirs = offered(api)["aurora-image"], offered(other_api)["aurora-image"]
    assert (mine["plan"], mine["pricing"]["prices"]) == (
        {"name": "premium", "selected": True},
        {"1K": 0.06, "2K": 0.12},
    )
    assert (theirs["plan"], theirs["pricing"]["prices"]["1K"]) == ({"name": "standard", "selected": False}, 0.04)


def test_a_selection_without_a_route_shows_the_default_plan_again(api, key, image_model):
    premium = Plan.objects.create(name="premium", price_multiplier="2")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=premium)
    assert offered(api)["aurora-image"]["plan"] == {"name": "standard", "selected": False}


def test_what_is_shown_times_the_images_is_what_is_charged(api, image_model, plan):
    plan.price_multiplier = "1.333333"
    plan.save()
    price = offered(api)["aurora-image"]["pricing"]["prices"]["1K"]
    assert api.submit(image_task(n=3)).json()["estimated_cost"] == pytest.approx(price * 3, abs=1e-9)


def test_a_3d_model_is_never_shown(api, plan, image_channel):
    model = make_model("marble", "3d", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    make_route(plan, model, image_channel, upstream_model="x")
    assert offered(api) == {}


@pytest.mark.parametrize("part", ["model", "channel", "channel_model", "route", "adapter"])
def test_what_cannot_run_now_is_not_shown(api, image_model, video_model, part):
    route = Route.objects.get(model=image_model)
    if part == "adapter":
        route.channel.adapter = "unheard_of"
        route.channel.save()
    else:
        mapping = route.channel.channel_models.get()
        row = {"model": image_model, "channel": route.channel, "channel_model": mapping, "route": route}[part]
        row.enabled = False
        row.save()
    assert list(offered(api)) == ["comet-video"]


def test_one_of_two_routes_is_enough(api, image_model, plan):
    Route.objects.update(enabled=False)
    spare = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2")
    assert list(offered(api)) == ["aurora-image"]


def test_a_model_of_two_modalities_is_shown_twice(api, image_model, plan, video_channel):
    twin = make_model("aurora-image", "video", plan=plan, prices={"*": "0.1"})
    make_route(plan, twin, video_channel, upstream_model="seedance-1")
    data = api.get("/v1/tasks/models").json()["data"]
    assert sorted((model["id"], model["modality"]) for model in data) == [
        ("aurora-image", "image"),
        ("aurora-image", "video"),
    ]


def test_the_usual_duration_is_told_once_tasks_have_succeeded(api, image_model):
    task_id = api.submitted()
    end(task_id, "succeeded")
    lasted(task_id, 12.5)
    assert offered(api)["aurora-image"]["eta_seconds"] == {"p50": 12.5, "p90": 12.5}


def test_no_channel_or_upstream_name_is_shown(api, image_model, video_model):
    content = api.get("/v1/tasks/models").content
    for secret in (b"studio", b"cinema", b"gpt-image", b"seedance", b"provider.example", b"openai", b"ark_"):
        assert secret not in content
