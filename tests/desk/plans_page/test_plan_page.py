"""The page of a plan: routes as rows, what its keys pay, and where a request would go."""

import json

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from catalog.models import ChannelModel, MediaModel, Plan, PlanChoice, Route
from tasks.models import RouteSet, Task, TaskPayload
from tests.desk.models_page.steps import sent
from tests.rows import make_channel, make_model, make_route, make_task
from tests.tasks.request.param_requests import image

pytestmark = pytest.mark.django_db


def page(plan: Plan) -> str:
    return reverse("admin:catalog_plan_change", args=[plan.pk])


def resend(client: Client, plan: Plan, **changed: str):
    return client.post(page(plan), sent(client, page(plan), "plan_form") | changed)


@pytest.fixture
def second(plan, image_model):
    """A second route of the model, for one picture at a time."""
    channel = make_channel("atelier", "openai_images", "https://other.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-mini", priority=20, weight=3, enabled=False)
    ChannelModel.objects.filter(channel=channel).update(capabilities={"max_n": 1})
    return channel


def routes():
    fields = ("channel__name", "priority", "weight", "resubmit_ambiguous", "enabled")
    return list(Route.objects.order_by("id").values_list(*fields))


def test_saving_the_page_as_it_is_changes_nothing(operator, plan, second):
    Plan.objects.filter(pk=plan.pk).update(price_multiplier="1.250000")
    before = routes()
    assert resend(operator, plan).status_code == 302
    assert routes() == before
    assert str(Plan.objects.get().price_multiplier) == "1.250000"
    assert 'value="1.25"' in operator.get(page(plan)).content.decode()


def test_a_plan_of_many_routes_can_be_saved(operator, plan):
    assert resend(operator, plan, **{f"field-{number}": "" for number in range(6 * 500)}).status_code == 302


def test_routes_are_ordered_switched_added_and_removed_without_json(operator, plan, image_model, second):
    third = make_channel("loft", "openai_images", "https://loft.provider.example/v1")
    ChannelModel.objects.create(channel=third, model=image_model, upstream_model="x")
    changed = {"routes-0-priority": "30", "routes-1-enabled": "on", "routes-1-resubmit_ambiguous": "on"}
    added = {"routes-2-model": str(image_model.pk), "routes-2-channel": str(third.pk), "routes-2-priority": "5"}
    assert resend(operator, plan, **changed, **added).status_code == 302
    assert routes() == [("studio", 30, 1, False, True), ("atelier", 20, 3, True, True), ("loft", 5, 1, False, True)]
    assert resend(operator, plan, **{"routes-0-DELETE": "on"}).status_code == 302
    assert [name for name, *_ in routes()] == ["studio", "atelier"]


def test_a_stored_route_keeps_its_model_and_its_channel(operator, plan, image_model, second):
    before = routes()
    assert resend(operator, plan, **{"routes-0-channel": str(second.pk), "routes-0-model": "999"}).status_code == 302
    assert routes() == before


def test_a_route_to_a_channel_that_does_not_offer_the_model_is_refused_at_its_field(operator, plan, image_model):
    other = make_channel("loft", "openai_images", "https://loft.provider.example/v1")
    answer = resend(operator, plan, **{"routes-1-model": str(image_model.pk), "routes-1-channel": str(other.pk)})
    assert answer.status_code == 200
    assert "loft does not offer aurora-image (image): add the model to the channel first." in answer.content.decode()


def test_the_page_shows_what_keys_pay_and_which_models_it_cannot_serve(operator, plan, image_model, video_model):
    Plan.objects.update(price_multiplier="0.5")
    make_model("alone", "image", plan=plan, prices={"1K": "1"})
    html = operator.get(page(plan)).content.decode()
    assert "$0.02" in html
    assert "$0.04" in html
    assert [(each.model.name, dict(each.pay.prices)) for each in operator.get(page(plan)).context["groups"]] == [
        ("aurora-image", {"1K": 20_000, "2K": 40_000}),
        ("comet-video", {"720p": 50_000, "*": 100_000}),
    ]
    assert "has no enabled route for 1 that has it as its default" in html


def explained(client: Client, plan: Plan, **fields: str):
    answer = client.post(reverse("admin:catalog_plan_explain", args=[plan.pk]), fields)
    assert answer.status_code == 200
    return answer


def body(**params) -> str:
    return json.dumps({"model": "aurora-image", "params": image(**params)})


def test_a_pasted_request_is_explained_under_the_plan(operator, plan, image_model, second):
    gold = Plan.objects.create(name="gold", price_multiplier="1.5")
    make_route(gold, image_model, second, upstream_model="x")
    Route.objects.update(enabled=True)
    make_route(
        gold, image_model, image_model.routes.get(plan=plan, priority=10).channel, upstream_model="x", priority=20
    )
    html = explained(operator, gold, request=body(n=2, prompt="<script>x</script>")).content.decode()
    assert "It would run: 1 of 2 routes can, for <strong>$0.12</strong>" in html
    assert "<code>params.n</code>" in html
    assert "POST https://images.provider.example/v1/images/generations" in html
    assert "&lt;script&gt;x&lt;/script&gt;" in html
    assert not Task.objects.exists()


def test_a_plan_without_a_route_says_which_plan_serves_instead(operator, image_model):
    bare = Plan.objects.create(name="bare")
    assert "Served by plan standard" in explained(operator, bare, request=body()).content.decode()


def test_a_key_is_explained_by_its_own_plan(operator, plan, image_model, second, key):
    gold = Plan.objects.create(name="gold", price_multiplier="3")
    make_route(gold, image_model, second, upstream_model="x")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=gold)
    html = explained(operator, plan, request=body(), key="key").content.decode()
    assert "Served by plan gold: the key has chosen it." in html
    assert "$0.12" in html


def test_a_recent_task_is_explained_by_the_catalog_of_today(operator, plan, image_model, key):
    routes = RouteSet.objects.create(digest="r", routes=[image_model.routes.get().pk])
    task = make_task(key, media_model=image_model)
    Task.objects.update(route_set=routes)
    foreign = make_task(key, media_model=image_model)
    TaskPayload.objects.create(task=task, params={"prompt": "dusk", "image_size": "2K", "n": 3})
    page_html = operator.get(page(plan)).content.decode()
    assert task.id in page_html
    assert foreign.id not in page_html
    MediaModel.objects.update(prices={"2K": "1"})
    MediaModel.objects.get().save()
    html = explained(operator, plan, task=task.id).content.decode()
    assert "It would run: 1 of 1 route can, for <strong>$3.00</strong>" in html
    TaskPayload.objects.update(params=None)
    assert "can no longer be read" in explained(operator, plan, task=task.id).content.decode()


WRONG = [
    ({}, "request", "Pick a task, or enter the body of a request."),
    ({"request": "{"}, "request", ""),
    ({"request": '{"model": "a", "model": "b"}'}, "request", ""),
    ({"request": "{}", "key": "nobody"}, "key", "is neither the name nor the id of a key"),
    ({"task": "task_0"}, "task", ""),
]


def test_what_cannot_be_explained_is_told_at_its_field(operator, plan):
    for fields, named, told in WRONG:
        form = explained(operator, plan, **fields).context["explain_form"]
        assert list(form.errors) == [named], fields
        assert told in form.errors[named][0], fields


def test_who_may_not_see_tasks_or_keys_is_shown_none(plan, image_model, key):
    user = User.objects.create_user("catalog", is_staff=True)
    user.user_permissions.set(Permission.objects.filter(content_type__app_label="catalog"))
    client = Client()
    client.force_login(user)
    task = make_task(key, media_model=image_model)
    TaskPayload.objects.create(task=task, params={"prompt": "a secret wish"})
    form = explained(client, plan, task=task.id, request=body(), key="key").context["explain_form"]
    assert list(form.fields) == ["request"]
    assert form.errors == {}


def test_a_request_that_would_be_refused_says_so(operator, plan, image_model):
    html = explained(operator, plan, request=body(n="two")).content.decode()
    assert "It would be refused" in html
    assert "TASK_INVALID_REQUEST" in html


def test_the_list_counts_what_a_plan_serves_and_who_chose_it(operator, plan, second, video_model, image_model, key):
    gold = Plan.objects.create(name="gold", price_multiplier="1.50")
    for model in (image_model, video_model):
        PlanChoice.objects.create(key=key.record, model=model, plan=gold)
    rows = operator.get(reverse("admin:catalog_plan_changelist")).context["plans"]
    told = [(each["plan"].name, each["multiplier"], each["plan"].served, each["plan"].choosers) for each in rows]
    assert told == [("gold", "1.5", 0, 1), ("standard", "1", 2, 0)]


def test_the_history_says_from_what_to_what(operator, plan, second):
    changed = {"name": "usual", "price_multiplier": "1.5", "routes-0-priority": "30", "routes-1-DELETE": "on"}
    assert resend(operator, plan, **changed).status_code == 302
    assert LogEntry.objects.get().change_message == (
        "Plan standard is now named usual. Price multiplier of plan usual 1 → 1.5: the prices of 1 model follow. "
        "Plan usual: the route of aurora-image to studio: priority 10 → 30. "
        "Plan usual: the route of aurora-image to atelier is removed."
    )
