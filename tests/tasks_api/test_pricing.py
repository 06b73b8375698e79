"""What a submission is priced at: the final tier and count of the upstream request, under the key's plan."""

import json
from decimal import Decimal

from django.urls import reverse

from catalog.models import Plan, PlanChoice
from tasks.models import Task
from tests.rows import make_channel, make_model, make_route
from tests.tasks_api.asking import end, error_of, image_task, named, refused, video_task


def cost(api, body) -> float:
    """The estimate, the same in quote, 202 and task object."""
    quoted = api.quote(body).json()["estimated_cost"]
    task_id = api.submit(body).json()["id"]
    assert api.task(task_id)["estimated_cost"] == quoted
    return quoted


IMAGES = [
    ({}, 0.04),
    ({"n": 4}, 0.16),
    ({"image_size": "2K"}, 0.08),
    ({"image_size": "2K", "n": 3, "aspect_ratio": "16:9"}, 0.24),
    ({"extra_body": {"n": 3}}, 0.12),
    ({"n": 2, "extra_body": {"n": 3}}, 0.12),
    ({"extra_body": {"size": "2048x2048"}}, 0.08),
    ({"image_size": "2K", "extra_body": {"size": "1024x1024"}}, 0.04),
    ({"extra_body": {"size": "900x1100"}}, 0.04),
    ({"extra_body": {"size": "1100x1100"}}, 0.08),
    ({"extra_body": {"background": "opaque"}}, 0.04),
]


def test_images_cost_the_price_of_their_final_tier_each(api, image_model):
    for params, usd in IMAGES:
        assert cost(api, image_task(**params)) == usd, params


def test_a_size_without_a_priced_tier_has_no_price(api, image_model):
    for size in ("3840x2160", "auto", "99999x99999"):
        response = api.submit(image_task(extra_body={"size": size}))
        assert refused(response) == (503, "TASK_PRICING_UNAVAILABLE"), size


def test_a_tier_without_a_price_is_not_offered_and_has_no_price(api, image_model):
    image_model.prices = {"1K": "0.04"}
    image_model.save()
    assert refused(api.submit(image_task(image_size="2K"))) == (400, "TASK_INVALID_REQUEST")
    response = api.submit(image_task(extra_body={"size": "2048x2048"}))
    assert refused(response) == (503, "TASK_PRICING_UNAVAILABLE")
    assert "2K" in error_of(response)["message"]
    assert cost(api, image_task()) == 0.04


def test_a_model_without_tiers_that_is_priced_by_tier_is_neither_listed_nor_priced(api, image_model):
    image_model.params = {"n": {"max": 4}}
    image_model.save()
    assert api.get("/v1/tasks/models").json()["data"] == []
    for params in ({}, {"extra_body": {"size": "1024x1024"}}):
        assert refused(api.submit(image_task(**params))) == (503, "TASK_PRICING_UNAVAILABLE"), params


def test_extra_body_cannot_ask_for_more_images_than_the_model_gives(api, image_model):
    for count in (5, 10, 11, 1_000_000):
        assert named(api.submit(image_task(extra_body={"n": count}))) == "params.extra_body.n", count


def test_a_count_inside_an_object_of_extra_body_cannot_pass_the_models_either(api, image_model, plan, image_channel):
    image_channel.adapter = "dashscope_image"
    image_channel.save()
    assert cost(api, image_task(extra_body={"parameters": {"n": 4, "size": "1024*1024"}})) == 0.16
    for parameters in ({"n": 5}, {"enable_sequential": True}):
        response = api.submit(image_task(extra_body={"parameters": {"size": "1024*1024", **parameters}}))
        assert refused(response) == (400, "TASK_INVALID_REQUEST"), parameters
        assert named(response) == "params.extra_body.parameters.n", parameters
    assert refused(api.submit(image_task(extra_body={"parameters": {"n": 1}}))) == (503, "TASK_PRICING_UNAVAILABLE")


def test_a_count_in_extra_body_that_is_none_is_refused(api, image_model):
    for count in (0, -1, "2", 1.5, True, []):
        assert named(api.submit(image_task(extra_body={"n": count}))) == "params.extra_body.n", count


def test_a_count_or_size_that_is_null_leaves_the_portable_one(api, image_model):
    assert cost(api, image_task(n=2, extra_body={"n": None, "size": None})) == 0.08


def test_videos_cost_their_seconds_at_the_price_of_the_resolution(api, video_model):
    costs = [({}, 0.5), ({"duration": 1}, 0.1), ({"resolution": "1080p"}, 1), ({"duration": 86_400}, 8_640)]
    for params, usd in costs:
        assert api.quote(video_task(**params)).json()["estimated_cost"] == usd, params


def test_a_resolution_in_other_letters_costs_the_same_and_the_list_shows_it_as_it_is_priced(api, video_model):
    video_model.prices = {"1080P": "0.3", "*": "0.2"}
    video_model.save()
    assert api.quote(video_task(resolution="1080p")).json()["estimated_cost"] == 1.5
    (model,) = api.get("/v1/tasks/models").json()["data"]
    assert model["pricing"]["prices"] == {"1080P": 0.3, "*": 0.2}


def test_a_route_compares_a_resolution_as_its_provider_spells_it(api, video_model, video_channel):
    video_channel.channel_models.update(capabilities={"resolutions": ["1080p"]})
    assert api.quote(video_task(resolution="1080p")).status_code == 200
    response = api.quote(video_task(resolution="1080P"))
    assert refused(response) == (400, "TASK_NO_CAPABLE_ROUTE")
    assert "params.resolution" in error_of(response)["message"]


def test_a_resolution_without_a_price_and_without_a_default_has_none(api, video_model):
    video_model.prices = {"720p": "0.1"}
    video_model.save()
    assert refused(api.submit(video_task(resolution="1080p"))) == (503, "TASK_PRICING_UNAVAILABLE")


def test_a_request_may_have_one_price(api, plan, image_channel):
    params = {"n": {"max": 4}, "image_size": {"values": ["1K"], "default": "1K"}}
    model = make_model("flat", "image", plan=plan, prices={"*": "0.25"}, pricing_mode="per_request", params=params)
    make_route(plan, model, image_channel, upstream_model="gpt-image-2")
    assert cost(api, {**image_task(n=4), "model": "flat"}) == 0.25
    assert Task.objects.get().price["tier"] == "*"


def test_a_model_of_an_unknown_pricing_mode_has_no_price_and_is_not_listed(api, image_model):
    image_model.pricing_mode = "audio_seconds"
    image_model.save()
    assert api.get("/v1/tasks/models").json()["data"] == []
    assert refused(api.submit(image_task())) == (503, "TASK_PRICING_UNAVAILABLE")


def test_the_plan_of_the_key_multiplies_the_price_and_rounds_once(api, key, image_model, image_channel):
    premium = Plan.objects.create(name="premium", price_multiplier="1.333333")
    make_route(premium, image_model, image_channel, upstream_model="gpt-image-2")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=premium)
    assert cost(api, image_task(n=3)) == 0.159999  # 0.04 × 1.333333 = 0.0533333, rounded to 0.053333, × 3


def test_a_selection_that_became_invalid_falls_back_for_that_model_alone(
    api, key, image_model, image_channel, video_model, video_channel
):
    premium = Plan.objects.create(name="premium", price_multiplier="2")
    route = make_route(premium, image_model, image_channel, upstream_model="gpt-image-2")
    make_route(premium, video_model, video_channel, upstream_model="seedance-1")
    for model in (image_model, video_model):
        PlanChoice.objects.create(key=key.record, model=model, plan=premium)
    assert (cost(api, image_task()), cost(api, video_task())) == (0.08, 1)
    route.delete()
    assert (cost(api, image_task()), cost(api, video_task())) == (0.04, 1)


def test_another_keys_selection_changes_nothing(api, other_key, image_model, image_channel):
    premium = Plan.objects.create(name="premium", price_multiplier="2")
    make_route(premium, image_model, image_channel, upstream_model="gpt-image-2")
    PlanChoice.objects.create(key=other_key.record, model=image_model, plan=premium)
    assert cost(api, image_task()) == 0.04


def test_prices_are_frozen_at_submission(api, image_model):
    task_id = api.submitted()
    image_model.prices = {"1K": "1"}
    image_model.save()
    end(task_id, "succeeded")
    task = api.task(task_id)
    assert (task["estimated_cost"], task["actual_cost"]) == (0.04, 0.04)
    assert cost(api, image_task()) == 1


def test_a_free_model_costs_nothing(api, image_model, account):
    image_model.prices = {"1K": "0"}
    image_model.save()
    type(account).objects.update(balance_micros=0)
    assert cost(api, image_task()) == 0


def test_a_micro_dollar_is_shown_with_six_decimals(api, image_model):
    image_model.prices = {"1K": "0.000001"}
    image_model.save()
    assert json.loads(api.submit(image_task(n=3)).content, parse_float=Decimal)["estimated_cost"] == Decimal("0.000003")


def test_routes_that_would_buy_something_else_are_skipped(api, image_model, plan):
    other = make_channel("other", "openai_images", "https://other.provider.example/v1")
    make_route(plan, image_model, other, upstream_model="gpt-image-2", priority=20)
    other.channel_models.update(capabilities={"size_table": {"1K": {"1:1": "512x512"}, "2K": {"1:1": "1024x1024"}}})
    assert api.quote(image_task()).json()["eligible_routes"] == 2
    assert api.quote(image_task(extra_body={"size": "1024x1024"})).json()["eligible_routes"] == 1
    assert Task.objects.count() == 0


def test_a_price_that_is_changed_in_the_admin_holds_from_the_next_request_on(api, image_model, plan, admin_client):
    assert cost(api, image_task()) == 0.04
    fields = {"name": "standard", "price_multiplier": "2", "routes-TOTAL_FORMS": "0", "routes-INITIAL_FORMS": "0"}
    assert admin_client.post(reverse("admin:catalog_plan_change", args=[plan.pk]), fields).status_code == 302
    assert cost(api, image_task()) == 0.08
