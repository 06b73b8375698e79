"""What no form of ours sends, to every page with rows in rows: an error that says so, and nothing done."""

import pytest
from django.urls import reverse

from catalog.models import Channel, ChannelModel, Credential, Plan, PlanChoice, Route
from tests.desk.sensitive import browser, channel_fields
from tests.rows import make_channel, make_route

pytestmark = pytest.mark.django_db

HUGE = "9" * 30
IDS = ["", "abc", "-1", "999", HUGE, "\0", "²"]
GONE = "reload the page"


@pytest.fixture
def client(operator):
    operator.raise_request_exception = False
    return operator


@pytest.fixture
def pages(client, acme_key, plan, image_model, image_channel):
    """Sends a page with one changed row to each place that has rows in rows; answers `name: response`."""
    PlanChoice.objects.create(key=acme_key.record, model=image_model, plan=plan)
    model, channel = str(image_model.pk), str(image_channel.pk)
    own = channel_fields()
    pages = {
        "credentials": ("catalog_channel", image_channel.pk, own, {"secret": "another", "change_reason": "new"}),
        "routes": (
            "catalog_plan",
            plan.pk,
            {"name": "standard", "price_multiplier": "1"},
            {"model": model, "channel": channel, "priority": "9", "weight": "9"},
        ),
        "plan_choices": (
            "accounts_apikey",
            acme_key.id,
            {"name": "key-1", "max_queued": "1", "max_running": "1"},
            {"model": model, "plan": str(plan.pk)},
        ),
    }

    def send(*only, **row):
        for prefix in only or pages:
            name, pk, fields, usual = pages[prefix]
            counts = {f"{prefix}-TOTAL_FORMS": "1", f"{prefix}-INITIAL_FORMS": "1"}
            inline = {f"{prefix}-0-{field}": value for field, value in {**usual, **row}.items()}
            yield prefix, client.post(reverse(f"admin:{name}_change", args=[pk]), fields | counts | inline)

    return send


def everything():
    return [
        list(model.objects.order_by("pk").values()) for model in (Channel, Credential, ChannelModel, Route, PlanChoice)
    ]


@pytest.mark.parametrize("row_id", IDS)
def test_a_row_that_is_not_there_is_an_error_of_the_form(pages, row_id):
    before = everything()
    for marked in ({}, {"DELETE": "on"}):
        for name, answer in pages(id=row_id, **marked):
            assert answer.status_code == 200, name
            assert GONE in answer.content.decode() or "errorlist" in answer.content.decode(), name
    assert everything() == before


def test_a_row_of_another_page_is_an_error_of_the_form(pages, plan, image_model, acme_key):
    """Each of these rows exists, elsewhere."""
    other = make_channel("other", "openai_images", "https://other.example/v1")
    make_route(Plan.objects.create(name="pro"), image_model, other, upstream_model="x")
    ids = {"credentials": other.credentials.get()}
    ids["routes"] = Route.objects.get(channel=other)
    before = everything()
    for prefix, row in ids.items():
        for marked in ({}, {"DELETE": "on"}):
            ((_, answer),) = pages(prefix, id=str(row.pk), **marked)
            assert GONE in answer.content.decode(), prefix
    assert everything() == before


def test_impossible_numbers_of_rows_are_an_error_of_the_form(client, image_channel):
    page = reverse("admin:catalog_channel_change", args=[image_channel.pk])
    for total, initial in (("x", "1"), ("", ""), (HUGE, "1"), ("5", "5")):
        counts = {"credentials-TOTAL_FORMS": total, "credentials-INITIAL_FORMS": initial}
        assert client.post(page, channel_fields() | counts).status_code == 200, total
    assert client.post(page, {}).status_code == 200


def test_an_id_that_no_column_holds_is_a_bad_request(client, pages, plan):
    for _, answer in pages(model=HUGE, channel=HUGE, plan=HUGE):
        assert answer.status_code in (200, 400)
    page = reverse("admin:catalog_plan_change", args=[plan.pk])
    counts = {"routes-TOTAL_FORMS": "1", "routes-INITIAL_FORMS": "0"}
    routes = {"routes-0-model": HUGE, "routes-0-channel": HUGE}
    answer = client.post(page, {"name": "standard", "price_multiplier": "1", **counts, **routes})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["catalog/planchoice/add/?plan={}", "accounts/apikey/?account__id__exact={}", "tasks/task/{}/change/"]
)
def test_addresses_with_such_ids_are_no_fault_of_ours(client, path):
    assert client.get(f"/admin/{path.format(HUGE)}").status_code < 500


def test_who_may_not_change_credentials_still_saves_the_rest_of_the_page(image_channel):
    """The browser of such a user sends the number of credentials and nothing else of them."""
    fields = {name: value for name, value in channel_fields().items() if not name.startswith("credentials-0")}
    client = browser()
    assert (
        client.post(
            reverse("admin:catalog_channel_change", args=[image_channel.pk]), fields | {"max_running": "7"}
        ).status_code
        == 302
    )
    assert Channel.objects.get().max_running == 7
