"""The page of a model: fields in the place of JSON, what prices become, and its public face."""

import json
from functools import partial

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from catalog import model_params, naming, pausing, snapshot
from catalog.models import ChannelModel, MediaModel, Plan
from common.modalities import TABLE
from tests.desk.models_page.steps import sent
from tests.desk.sensitive import browser
from tests.rows import IMAGE_PARAMS, make_channel, make_model, make_route

pytestmark = pytest.mark.django_db

PARAMS = [
    {},
    IMAGE_PARAMS,
    {"image_size": {"values": ["2K", "1K", "a, b; c"]}},
    {"n": {"max": 7}, "images": {"max": 0}},
    # Of a plugin or a later version, in shapes that no field shows:
    {"zoom": {"max": 3}, "n": {"max": 4, "note": "ours"}, "image_size": {"values": ["1K"], "default": "4K"}},
    {"image_size": {"values": "1K"}, "n": {"max": True}, "images": {"max": 4_000}},
]


def page(model: MediaModel) -> str:
    return reverse("admin:catalog_mediamodel_change", args=[model.pk])


def resend(client: Client, model: MediaModel, **changed: str):
    return client.post(page(model), sent(client, page(model), "mediamodel_form") | changed)


def errors(answer) -> dict[str, list[str]]:
    return dict(answer.context["adminform"].form.errors)


def row(model: MediaModel) -> dict[str, object]:
    stored = MediaModel.objects.filter(pk=model.pk).values().get()
    return stored | {"aliases": naming.aliases(MediaModel.objects.get(pk=model.pk))}


@pytest.mark.parametrize("modality", [modality.name for modality in TABLE])
def test_saving_a_page_as_it_is_changes_nothing(operator, plan, modality):
    mode = {"image": "per_request", "video": "video_duration", "3d": "per_request"}[modality]
    prices = {"720p": "0.10000000001", "*": "12"} if modality == "video" else {"*": "0.000001"}
    for number, params in enumerate(PARAMS):
        name = f"m{number} <b>"
        model = make_model(name, modality, plan=plan, prices=prices, pricing_mode=mode, params=params)
        naming.write(model, [f"ß &amp; ü {number}", f"z{number}"])
        before = row(model)
        assert resend(operator, model).status_code == 302, params
        assert row(model) == before
    assert not LogEntry.objects.exclude(change_message="No fields changed.").exclude(change_message="[]").exists()


def test_every_param_of_every_modality_has_its_field(operator, plan):
    model = make_model("m", "image", plan=plan, prices={"1K": "1"}, params={"image_size": {"values": ["1K"]}})
    fields = {
        "image_size_values-1-text": "2K",
        "image_size_default": "2K",
        "aspect_ratio_values-0-text": "16:9",
        "aspect_ratio_default": "16:9",
        "n_max": "9",
        "images_max": "3",
        "prices-1-tier": "2K",
        "prices-1-usd": "1.50",
    }
    assert resend(operator, model, **fields).status_code == 302
    stored = MediaModel.objects.get()
    assert stored.params == {
        "image_size": {"values": ["1K", "2K"], "default": "2K"},
        "aspect_ratio": {"values": ["16:9"], "default": "16:9"},
        "n": {"max": 9},
        "images": {"max": 3},
    }
    assert stored.params.keys() == model_params.IMAGE.keys()
    assert stored.prices == {"1K": "1", "2K": "1.5"}


def test_an_emptied_row_goes_and_the_order_of_the_others_stays(operator, plan):
    model = make_model("m", "video", plan=plan, prices={"1": "1", "22": "2", "333": "3"})
    naming.write(model, ["a", "b", "c"])
    assert resend(operator, model, **{"aliases-0-text": "", "prices-1-tier": "", "prices-1-usd": ""}).status_code == 302
    model = MediaModel.objects.get()
    assert (naming.aliases(model), model.prices) == (["b", "c"], {"1": "1", "333": "3"})


def test_what_no_field_shows_goes_only_where_it_is_ticked(operator, plan):
    params = {"zoom": {"max": 3}, "n": {"max": 4, "note": "ours"}}
    model = make_model("m", "image", plan=plan, prices={"*": "1"}, pricing_mode="per_request", params=params)
    assert "note" in operator.get(page(model)).content.decode()
    assert resend(operator, model, drop_params="n", images_max="2").status_code == 302
    assert MediaModel.objects.get().params == {"zoom": {"max": 3}, "images": {"max": 2}}


def test_a_model_of_another_modality_has_no_such_params(operator, plan):
    fields = {"name": "m", "modality": "video", "pricing_mode": "video_duration", "default_plan": str(plan.pk)}
    priced = {"prices-0-tier": "*", "prices-0-usd": "1", "n_max": "2"}
    answer = operator.post(reverse("admin:catalog_mediamodel_add"), fields | priced)
    assert errors(answer) == {"n_max": ["A video model has no n: leave it empty."]}


def test_a_refusal_says_how_to_mend_it(operator, image_model):
    answer = resend(operator, image_model, pricing_mode="video_duration")
    assert errors(answer)["pricing_mode"] == [
        "does not fit a model of modality image: choose image_matrix or per_request"
    ]
    emptied = {"image_size_values-0-text": "", "image_size_values-1-text": "", "image_size_default": ""}
    (told,) = errors(resend(operator, image_model, **emptied))["image_size_values"]
    assert told.startswith("Requests must be able to choose a tier: enter those with a price (1K, 2K)")


def test_the_page_shows_what_each_plan_makes_of_the_prices_and_what_is_left(operator, plan, image_model, image_channel):
    ChannelModel.objects.update(cost={"1K": "0.01", "2K": "0.09"})
    gold = Plan.objects.create(name="gold", price_multiplier="1.5")
    other = make_channel("atelier", "openai_images", "https://other.provider.example/v1")
    make_route(gold, image_model, other, upstream_model="x")
    make_route(gold, image_model, image_channel, upstream_model="x", priority=20)
    tiers = operator.get(page(image_model)).context["facts"].tiers
    told = [
        (
            row.tier,
            cell.plan,
            cell.price_micros,
            [(each.channel, each.left_micros, each.share) for each in cell.margins],
        )
        for row in tiers
        for cell in row.cells
    ]
    assert told == [
        ("1K", "standard", 40_000, [("studio", 30_000, 75)]),
        ("1K", "gold", 60_000, [("atelier", None, None), ("studio", 50_000, 83)]),
        ("2K", "standard", 80_000, [("studio", -10_000, -12)]),
        ("2K", "gold", 120_000, [("atelier", None, None), ("studio", 30_000, 25)]),
    ]
    html = operator.get(page(image_model)).content.decode()
    for part in ("$0.06", "leaves $0.05 (83 %)", "✕ loses $0.01", "cost unknown", "× 1.5"):
        assert part in html, part


def test_the_public_face_is_what_the_models_endpoint_shows(operator, client_for, key, image_model):
    (shown,) = client_for(key).get("/v1/tasks/models").json()["data"]
    answer = operator.get(page(image_model))
    assert json.loads(answer.context["face_json"]) == shown
    assert "is on offer under plan standard, from $0.04 per image" in answer.content.decode()


def test_a_model_that_is_not_on_offer_says_why(operator, plan, image_model):
    routeless = make_model("alone", "image", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    assert "Plan standard has no route that can run it" in operator.get(page(routeless)).content.decode()
    MediaModel.objects.filter(pk=image_model.pk).update(enabled=False)
    assert "is not on offer. It is disabled" in operator.get(page(image_model)).content.decode()
    MediaModel.objects.filter(pk=image_model.pk).update(enabled=True, pricing_mode="audio_seconds")
    assert "No pricing mode is named audio_seconds" in operator.get(page(image_model)).content.decode()


def test_params_that_nobody_can_read_do_not_break_the_page(operator, image_model):
    MediaModel.objects.filter(pk=image_model.pk).update(params={"image_size": {"values": 5}, "n": [1], "images": 4})
    assert "Its params cannot be read: image_size, images, n" in operator.get(page(image_model)).content.decode()


def test_who_may_only_look_can_change_nothing(image_model):
    viewer = browser()
    viewer_rights = viewer.get(page(image_model))
    assert viewer_rights.status_code == 200
    user = viewer_rights.wsgi_request.user
    user.user_permissions.set(user.user_permissions.filter(codename__startswith="view_"))
    html = viewer.get(page(image_model)).content.decode()
    assert '<fieldset class="plain" disabled>' in html
    assert 'name="_save"' not in html
    before = row(image_model)
    assert viewer.post(page(image_model), {"name": "other"}).status_code == 403
    assert row(image_model) == before


def test_neither_lists_nor_pages_load_jquery(operator, plan, image_model):
    pages = [
        reverse(f"admin:catalog_{kind}_{view}")
        for kind in ("mediamodel", "plan", "planchoice")
        for view in ("changelist", "add")
    ]
    for address in (*pages, page(image_model), reverse("admin:catalog_plan_change", args=[plan.pk])):
        html = operator.get(address).content.decode()
        assert "jquery" not in html, address
        assert "prepopulate" not in html, address


def test_a_saved_model_holds_from_the_next_request_on(operator, image_model):
    assert snapshot.latest().models_named("nova") == ()
    assert resend(operator, image_model, **{"aliases-0-text": "nova"}).status_code == 302
    assert snapshot.latest().models_named("nova")[0].id == image_model.pk


def test_a_model_is_paused_and_resumed_by_button(operator, image_model):
    do = partial(reverse, "admin:catalog_mediamodel_do")
    assert do(args=[image_model.pk, "pause"]) in operator.get(page(image_model)).content.decode()
    assert operator.post(do(args=[image_model.pk, "pause"]), {"reason": "broken"}).status_code == 302
    shown = operator.get(page(image_model)).content.decode()
    assert "image model aurora-image is paused since" in shown
    assert do(args=[image_model.pk, "resume"]) in shown
    assert resend(operator, image_model).status_code == 302
    assert pausing.standing(MediaModel.objects.get()) == "paused"


def test_the_list_says_what_is_sold_for_how_much_and_what_is_not_on_offer(operator, plan, image_model):
    address = reverse("admin:catalog_mediamodel_changelist")
    assert "The only model is on offer." in operator.get(address).content.decode()
    Plan.objects.update(price_multiplier="1.25")
    make_model("alone", "image", plan=plan, prices={"*": "1"}, pricing_mode="per_request")
    MediaModel.objects.filter(name="aurora-image").update(params={"image_size": 5})
    html = operator.get(address).content.decode()
    assert "0 of 2 models are on offer; 2 are not:" in html
    assert "$0.05" in html
    assert "Its params cannot be read: image_size." in html
    assert "No model has this name." in operator.get(address, {"q": "zz"}).content.decode()


def test_the_history_says_from_what_to_what(operator, image_model):
    changed = {"prices-1-usd": "0.07", "n_max": "2", "aliases-0-text": "dawn"}
    assert resend(operator, image_model, **changed).status_code == 302
    assert LogEntry.objects.get().change_message == (
        "Price of aurora-image 2K $0.08 → $0.07. Model aurora-image: params.n.max 4 → 2. "
        'Model aurora-image: aliases nothing → ["dawn"].'
    )


def test_sizes_without_a_price_and_prices_without_a_size_are_told(operator, image_model):
    shown = operator.get(page(image_model)).content.decode()
    assert "has no price" not in shown
    assert "No request can ask" not in shown
    assert resend(operator, image_model, **{"prices-1-tier": "4K"}).status_code == 302
    shown = operator.get(page(image_model)).content.decode()
    assert "Requests may ask for 2K, which has no price" in shown
    assert "No request can ask for 4K by image_size, though it has a price" in shown
