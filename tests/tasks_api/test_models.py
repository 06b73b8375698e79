"""GET /v1/tasks/models: what this key can run now, at its own prices; the only source of availability."""

import pytest
from jsonschema import Draft202012Validator

from adapters import registry
from catalog.models import ModelName, Plan, PlanChoice, Route
from tests.catalog.stubs import StubImages
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route
from tests.tasks.request.param_requests import data_url
from tests.tasks.steps import lasted
from tests.tasks_api.asking import end, image_task, refused, video_task


class Broken(StubImages):
    """An installed adapter with a fault in it."""

    protocol = "broken"

    def check(self, request, target):
        raise KeyError("its own")


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


def offer(channel, **capabilities):
    channel.channel_models.update(capabilities=capabilities)


WIDE = {
    "image_size": {"values": ["1K", "2K", "3K", "4K"], "default": "1K"},
    "aspect_ratio": {"values": ["1:1", "16:9", "21:9", "7:3"], "default": "7:3"},
    "n": {"max": 10},
    "images": {"max": 10},
}


def test_only_what_a_route_can_express_is_listed_and_taken(api, image_model, image_channel, plan):
    image_model.params, image_model.prices = WIDE, {"2K": "0.1", "4K": "0.2"}
    image_model.save()
    offer(image_channel, tiers=["1K", "2K"], max_n=2, max_images=0)
    atelier = make_channel("atelier", "ark_images", "https://ark.provider.example/api/v3")
    make_route(plan, image_model, atelier, upstream_model="seedream", priority=20)
    offer(atelier, tiers=["3K", "4K"], ratios=["1:1", "16:9"], max_n=1, max_images=3)
    model = offered(api)["aurora-image"]
    assert model["params"] == {
        "image_size": {"values": ["2K", "4K"], "default": "2K"},
        "aspect_ratio": {"values": ["1:1", "16:9", "21:9"], "default": "1:1"},
        "n": {"max": 2},
        "images": {"max": 0},
    }
    assert model["inputs"] == {"max": 0, "roles": {}}
    for params in ({}, {"image_size": "4K"}, {"aspect_ratio": "21:9"}, {"n": 2}):
        assert api.submit(image_task(**params)).status_code == 202, params
    picture = {"image_url": "https://cdn.example.com/a.png"}
    for params in (
        {"image_size": "1K"},
        {"image_size": "3K"},
        {"aspect_ratio": "7:3"},
        {"n": 3},
        {"images": [picture]},
    ):
        for send in (api.submit, api.quote):
            assert refused(send(image_task(**params))) == (400, "TASK_INVALID_REQUEST"), params


def test_a_field_that_no_route_takes_any_value_of_is_not_offered(api, plan):
    template = {
        "modalities": ["image"],
        "submit": {"path": "/pictures", "body": {"prompt": "{prompt}"}},
        "result": {"outputs": "pictures[].url"},
    }
    channel = make_channel("own", "http_template", "https://own.provider.example", options={"template": template})
    model = make_model("flat", "image", plan=plan, prices={"*": "1"}, pricing_mode="per_request", params=IMAGE_PARAMS)
    make_route(plan, model, channel, upstream_model="x")
    assert offered(api)["flat"]["params"] == {"n": {"max": 1}, "images": {"max": 0}}
    assert api.submit({**image_task(), "model": "flat"}).status_code == 202
    assert refused(api.submit({**image_task(image_size="1K"), "model": "flat"})) == (400, "TASK_INVALID_REQUEST")


def test_a_model_of_which_nothing_runs_is_not_listed_and_says_why(api, image_model, image_channel):
    offer(image_channel, tiers=["4K"])
    assert offered(api) == {}
    response = api.submit(image_task())
    assert refused(response) == (400, "TASK_NO_CAPABLE_ROUTE")
    assert response.json()["error"]["message"].endswith(" params.image_size: must be one of 4K here.")


def test_the_roles_and_the_sound_of_a_film_are_those_of_its_routes(api, video_model, video_channel, plan):
    offer(video_channel, roles={"reference_image": 2, "reference_audio": 1}, max_inputs=2, audio="never")
    frames = make_channel("frames", "openai_videos", "https://frames.provider.example/v1")
    make_route(plan, video_model, frames, upstream_model="sora", priority=20)
    offer(frames, audio="never")
    model = offered(api)["comet-video"]
    assert model["inputs"] == {"max": 2, "roles": {"image": ["first_frame", "reference"], "audio": ["reference"]}}
    assert model["params"]["generate_audio"] == {"type": ["boolean", "null"], "enum": [False, None]}
    picture = {"type": "image", "role": "reference", "url": "https://cdn.example.com/a.png"}
    sound = {"type": "audio", "role": "reference", "url": "https://cdn.example.com/a.mp3"}
    for params in ({"inputs": [picture, sound]}, {"inputs": [{**picture, "role": "first_frame"}]}):
        assert api.submit(video_task(**params)).status_code == 202, params
    film = {**sound, "type": "video"}
    refusals = ([{**picture, "role": "last_frame"}], "role"), ([film], "type"), ([picture] * 3, "inputs")
    for inputs, field in refusals:
        response = api.submit(video_task(inputs=inputs))
        assert refused(response) == (400, "TASK_INVALID_REQUEST"), field
        assert field in response.json()["error"]["message"].split()[0]
    assert refused(api.submit(video_task(generate_audio=True))) == (400, "TASK_INVALID_REQUEST")


def test_a_film_without_inputs_and_with_a_short_prompt_says_so(api, video_model, video_channel):
    offer(video_channel, roles={}, prompt_max=30, audio="always", durations=[7], resolutions=["333p"])
    model = offered(api)["comet-video"]
    assert (model["inputs"], model["params"]["prompt"]) == (
        {"max": 0, "roles": {}},
        {"type": "string", "maxLength": 30},
    )
    Draft202012Validator.check_schema(model["params_schema"])
    film = {"duration": 7, "resolution": "333p"}
    assert api.submit(video_task(**film, prompt="x" * 30, inputs=[])).status_code == 202
    assert refused(api.submit(video_task(**film, prompt="x" * 31))) == (400, "TASK_INVALID_REQUEST")


def test_each_plan_lists_what_its_own_routes_can_express(api, other_api, key, image_model, image_channel):
    offer(image_channel, tiers=["1K"])
    premium = Plan.objects.create(name="premium", price_multiplier="1.5")
    better = make_channel("better", "openai_images", "https://better.provider.example/v1")
    make_route(premium, image_model, better, upstream_model="gpt-image-2")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=premium)
    tiers = [offered(each)["aurora-image"]["params"]["image_size"]["values"] for each in (api, other_api)]
    assert tiers == [["1K", "2K"], ["1K"]]
    assert api.submit(image_task(image_size="2K")).status_code == 202
    assert refused(other_api.submit(image_task(image_size="2K"))) == (400, "TASK_INVALID_REQUEST")


def test_a_faulty_adapter_hides_its_own_models_alone(api, image_model, video_model, image_channel, monkeypatch, caplog):
    monkeypatch.setitem(registry.ADAPTERS, "broken", Broken())
    image_channel.adapter = "broken"
    image_channel.save()
    assert list(offered(api)) == ["comet-video"]
    assert "image model aurora-image is not offered under plan standard: a route failed" in caplog.text


def test_data_urls_are_not_offered_where_no_route_takes_them(api, image_model, image_channel):
    offer(image_channel, data_url=False)
    schema = Draft202012Validator(offered(api)["aurora-image"]["params_schema"])
    for url, is_taken in (("https://cdn.example.com/a.png", True), (data_url(), False)):
        body = image_task(images=[{"image_url": url}])
        assert schema.is_valid(body["params"]) is is_taken
        response = api.submit(body)
        assert response.status_code == 202 if is_taken else refused(response) == (400, "TASK_INVALID_REQUEST")
