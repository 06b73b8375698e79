"""The catalog in the admin: what it writes, refuses by field, and never shows."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.forms import ModelForm
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from adapters.base import ErrorKind, UpstreamError
from catalog import credentials, health, naming, snapshot
from catalog.models import Channel, ChannelModel, Credential, MediaModel, Plan, Route
from tests.rows import IMAGE_PARAMS, add_credential, make_channel, make_model, make_route, opened

pytestmark = pytest.mark.django_db

SECRET = "a-secret-that-is-long-9876"


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


def url(kind: str, row: Any = None, *, action: str = "change") -> str:
    if row is None:
        return reverse(f"admin:catalog_{kind}_{action}")
    return reverse(f"admin:catalog_{kind}_{action}", args=[row.pk])


def errors(response: Any) -> dict[str, list[str]]:
    """The errors of the page's form and of its inlines, by field."""
    form: ModelForm[Any] = response.context["adminform"].form
    found = dict(form.errors)
    for formset in response.context["inline_admin_formsets"]:
        for inline in formset.formset.forms:
            found.update(inline.errors)
    return found


def no_inlines(prefix: str) -> dict[str, str]:
    return {f"{prefix}-TOTAL_FORMS": "0", f"{prefix}-INITIAL_FORMS": "0"}


def model_form(plan: Plan, **fields: str) -> dict[str, str]:
    return {
        "name": "nova",
        "aliases": "star\nsun",
        "modality": "video",
        "default_plan": str(plan.pk),
        "pricing_mode": "video_duration",
        "prices": '{"*": 0.1}',
        "params": "",
        "enabled": "on",
    } | fields


def image_form(plan: Plan, **fields: str) -> dict[str, str]:
    priced = {"modality": "image", "pricing_mode": "image_matrix", "prices": '{"1K": 1}'}
    return model_form(plan, **priced, params='{"image_size": {"values": ["1K"]}}') | fields


def channel_form(**fields: str) -> dict[str, str]:
    return {
        "name": "studio",
        "adapter": "stub_images",
        "base_url": "https://studio.example/v1/",
        "options": "{}",
        "max_running": "",
        "enabled": "on",
        **no_inlines("channel_models"),
        **no_inlines("credentials"),
    } | fields


def credential_form(row: Credential | None = None, **fields: str) -> dict[str, str]:
    """A channel's page with one credential: a new one, or what is done to the stored one."""
    inline = {f"credentials-0-{name}": value for name, value in {"change_reason": "rotation", **fields}.items()}
    counts = {"credentials-TOTAL_FORMS": "1", "credentials-INITIAL_FORMS": str(int(row is not None))}
    stored = {"credentials-0-id": str(row.pk), "credentials-0-channel": str(row.channel_id)} if row else {}
    return channel_form(**inline, **counts, **stored)


def test_a_model_is_made_with_its_names(desk: Client, plan: Plan) -> None:
    response = desk.post(url("mediamodel", action="add"), model_form(plan))
    assert response.status_code == 302
    model = MediaModel.objects.get()
    assert (model.prices, model.params, naming.aliases(model)) == ({"*": "0.1"}, {}, ["star", "sun"])


def test_renaming_a_model_moves_its_names(desk: Client, plan: Plan, aurora: MediaModel) -> None:
    fields = image_form(plan, name="dawn", aliases="aurora")
    assert desk.post(url("mediamodel", aurora), fields).status_code == 302
    catalog = snapshot.latest()
    assert catalog.models_named("dawn") == catalog.models_named("aurora")
    assert catalog.models_named("dawn")[0].name == "dawn"


WRONG_MODELS = [
    ("name", "aurora", "name"),
    ("aliases", "aurora", "aliases"),
    ("aliases", "nova", "aliases"),
    ("aliases", "x" * 201, "aliases"),
    ("prices", '{"1K": -1}', "prices"),
    ("prices", '{"1K": NaN}', "prices"),
    ("prices", "[1]", "prices"),
    ("pricing_mode", "video_duration", "pricing_mode"),
    ("params", '{"n": {"max": 0}}', "params"),
    ("params", "", "params"),
    ("params", '{"zoom": 1}', "params"),
    ("params", '{"\\ud800": 1}', "params"),
    ("prices", '{"1K": 1, "1K": 2}', "prices"),
    ("prices", "9" * 5_000, "prices"),
    ("prices", "[" * 5_000 + "]" * 5_000, "prices"),
    ("default_plan", "", "default_plan"),
]


def test_a_wrong_model_is_refused_at_its_field(desk: Client, plan: Plan, aurora: MediaModel) -> None:
    fields = image_form(plan)
    for field, value, named in WRONG_MODELS:
        response = desk.post(url("mediamodel", action="add"), fields | {field: value})
        assert response.status_code == 200, (field, value[:40])
        assert set(errors(response)) == {named}, (field, value[:40])


def test_a_resolution_in_two_spellings_is_refused(desk: Client, plan: Plan) -> None:
    fields = model_form(plan, prices='{"720p": 0.1, "720P": 0.2}')
    assert set(errors(desk.post(url("mediamodel", action="add"), fields))) == {"prices"}


def test_a_channel_keeps_its_api_key_encrypted_and_unseen(desk: Client) -> None:
    assert desk.post(url("channel", action="add"), credential_form(secret=SECRET)).status_code == 302
    channel = Channel.objects.get()
    assert opened(channel) == {"api_key": SECRET}
    assert channel.base_url == "https://studio.example/v1"
    page = desk.get(url("channel", channel)).content.decode()
    assert "…9876" in page
    assert SECRET not in page
    assert Credential.objects.get().ciphertext not in page


def test_an_empty_secret_keeps_the_stored_one(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    assert desk.post(url("channel", studio), credential_form(row, secret="")).status_code == 302
    assert Credential.objects.get().ciphertext == row.ciphertext


def test_a_new_api_key_keeps_the_other_fields_of_the_credential(desk: Client, studio: Channel) -> None:
    credentials.store(studio, {"api_key": "old", "organization": "org"})
    desk.post(url("channel", studio), credential_form(credentials.current(studio.pk)[0], secret=SECRET))
    assert opened(studio) == {"api_key": SECRET, "organization": "org"}


def test_a_credential_of_several_fields_is_given_as_json(desk: Client, studio: Channel) -> None:
    both = '{"access_key": "a", "secret_key": "b"}'
    desk.post(url("channel", studio), credential_form(Credential.objects.get(), secret=both))
    assert opened(studio) == {"access_key": "a", "secret_key": "b"}


def test_a_wrong_secret_is_refused_at_its_field(desk: Client) -> None:
    for secret in ("two\twords", "{", '{"a":' + "[" * 5_000, '{"api_key": 7}', '{"api_key": ""}'):
        response = desk.post(url("channel", action="add"), credential_form(secret=secret))
        assert set(errors(response)) == {"secret"}, secret[:40]
        assert not Channel.objects.exists()


def test_a_new_credential_needs_a_value(desk: Client, studio: Channel) -> None:
    response = desk.post(url("channel", studio), credential_form(switch="disable"))
    assert set(errors(response)) == {"secret"}


def test_an_operator_disables_and_enables_a_credential(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    version = snapshot.stored_version()
    desk.post(url("channel", studio), credential_form(row, switch="disable"))
    row.refresh_from_db()
    assert (row.disabled_at is None, row.reason, row.probe_at) == (False, "by an operator", None)
    assert snapshot.stored_version() > version
    desk.post(url("channel", studio), credential_form(row, switch="enable"))
    assert Credential.objects.get().disabled_at is None


def test_an_operator_stops_the_probes_of_a_credential_that_was_disabled_by_itself(
    desk: Client, studio: Channel
) -> None:
    row = Credential.objects.get()
    health.refused(studio.pk, row.pk, UpstreamError(ErrorKind.AUTH, "Bad key."))
    desk.post(url("channel", studio), credential_form(row, switch="disable"))
    assert Credential.objects.get().probe_at is None


def test_saving_a_page_leaves_what_was_disabled_meanwhile_disabled(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    health.refused(studio.pk, row.pk, UpstreamError(ErrorKind.AUTH, "Bad key."))
    desk.post(url("channel", studio), credential_form(row, secret="", switch=""))
    assert Credential.objects.get().disabled_at is not None


def test_a_second_credential_is_added_and_the_first_deleted(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    fields = credential_form(row) | {"credentials-TOTAL_FORMS": "2", "credentials-1-secret": SECRET}
    fields["credentials-1-change_reason"] = "second key"
    assert desk.post(url("channel", studio), fields).status_code == 302
    assert [found.last4 for found in credentials.of_channel(studio.pk)] == ["1234", "9876"]
    desk.post(url("channel", studio), credential_form(row, DELETE="on"))
    assert [found.last4 for found in credentials.of_channel(studio.pk)] == ["9876"]


def test_the_pages_tell_why_a_channel_is_not_used(desk: Client, studio: Channel, atelier: Channel) -> None:
    health.refused(studio.pk, Credential.objects.get(channel=studio).pk, UpstreamError(ErrorKind.AUTH, "Bad key."))
    health.refused(atelier.pk, None, UpstreamError(ErrorKind.OVERLOADED, "Full.", retry_after=600))
    page = desk.get(url("channel", action="changelist")).content.decode()
    assert "auth: Bad key." in page
    assert "disabled since 20" in page
    assert "cooling down until 20" in page
    assert "disabled by itself" in desk.get(url("channel", studio)).content.decode()
    assert "overloaded at 20" in desk.get(url("channel", atelier)).content.decode()


WRONG_CHANNELS = [
    ("adapter", "unheard_of"),
    ("base_url", "ftp://x"),
    ("options", "[]"),
    ("options", '{"dialect": "openai", "dialect": "xai"}'),
    ("max_running", "0"),
    ("max_running", "-1"),
]


def test_a_wrong_channel_is_refused_at_its_field(desk: Client) -> None:
    for field, value in WRONG_CHANNELS:
        response = desk.post(url("channel", action="add"), channel_form(**{field: value}))
        assert response.status_code == 200, (field, value)
        assert set(errors(response)) == {field}, (field, value)


def offer_form(model: MediaModel, **fields: str) -> dict[str, str]:
    values = {"model": str(model.pk), "upstream_model": "gpt-image-2", "capabilities": "", "cost": "", "enabled": "on"}
    values |= {"extra_fields": "", "fixed": ""}
    inline = {f"channel_models-0-{name}": value for name, value in (values | fields).items()}
    return channel_form(**inline, **{"channel_models-TOTAL_FORMS": "1"})


def test_a_channel_model_is_made_inline(desk: Client, aurora: MediaModel) -> None:
    assert desk.post(url("channel", action="add"), offer_form(aurora, cost='{"1K": 0.02}')).status_code == 302
    offer = ChannelModel.objects.get()
    assert (offer.capabilities, offer.cost) == ({}, {"1K": "0.02"})


def test_the_adapter_is_asked_about_capabilities(desk: Client, aurora: MediaModel) -> None:
    response = desk.post(url("channel", action="add"), offer_form(aurora, capabilities='{"odd": 1}'))
    assert errors(response) == {"capabilities": ["capabilities.odd: unknown"]}


def test_the_fields_of_a_channel_model_are_kept_and_judged_at_their_place(desk: Client, aurora: MediaModel) -> None:
    fields = {"extra_fields": '["seed"]', "fixed": '{"quality": "medium"}'}
    desk.post(url("channel", action="add"), offer_form(aurora, **fields))
    offer = ChannelModel.objects.get()
    assert (offer.extra_fields, offer.fixed) == (["seed"], {"quality": "medium"})
    wrong = {"extra_fields": '["a b"]', "fixed": "[1]"}
    response = desk.post(url("channel", action="add"), offer_form(aurora, **wrong) | {"name": "other"})
    assert errors(response) == {
        "extra_fields": ["[0]: must be a path like quality, svg.model or tools[].type"],
        "fixed": ["must be a mapping"],
    }


def test_a_model_of_another_modality_than_the_adapters_is_refused(desk: Client, plan: Plan) -> None:
    film = make_model("film", "video", plan=plan, prices={"*": "1"})
    response = desk.post(url("channel", action="add"), offer_form(film))
    assert set(errors(response)) == {"model"}


def route_form(model: MediaModel, channel: Channel) -> dict[str, str]:
    values = {"model": model.pk, "channel": channel.pk, "priority": 10, "weight": 1, "enabled": "on"}
    inline = {f"routes-0-{name}": str(value) for name, value in values.items()}
    return {"name": "gold", "price_multiplier": "0.5", "routes-TOTAL_FORMS": "1", "routes-INITIAL_FORMS": "0"} | inline


def test_a_plan_is_made_with_its_routes(desk: Client, routed: MediaModel, studio: Channel) -> None:
    assert desk.post(url("plan", action="add"), route_form(routed, studio)).status_code == 302
    assert Route.objects.filter(plan__name="gold", channel=studio).exists()


def test_a_route_to_a_channel_without_the_model_is_refused(desk: Client, aurora: MediaModel, studio: Channel) -> None:
    response = desk.post(url("plan", action="add"), route_form(aurora, studio))
    assert set(errors(response)) == {"channel"}


def test_deleting_in_the_admin_is_seen_by_the_next_request(desk: Client, routed: MediaModel, studio: Channel) -> None:
    assert snapshot.latest().channels()
    desk.post(url("channel", studio, action="delete"), {"post": "yes"})
    assert not snapshot.latest().channels()


def test_deleting_a_selection_is_seen_by_the_next_request(desk: Client, routed: MediaModel, studio: Channel) -> None:
    assert snapshot.latest().channels()
    chosen = {"action": "delete_selected", "_selected_action": str(studio.pk), "post": "yes"}
    desk.post(url("channel", action="changelist"), chosen)
    assert not snapshot.latest().channels()


@pytest.mark.parametrize(
    ("kind", "name"), [("mediamodel", "model-7"), ("channel", "channel-7"), ("plan", "plan-7"), ("planchoice", "")]
)
def test_list_pages_ask_the_same_number_of_queries_for_any_number_of_rows(desk: Client, kind: str, name: str) -> None:
    def queries(rows: range) -> int:
        for number in rows:
            plan = Plan.objects.create(name=f"plan-{number}")
            channel = make_channel(f"channel-{number}", "stub_images", "https://x.example")
            model = make_model(f"model-{number}", "image", plan=plan, prices={"1K": "1"}, params=IMAGE_PARAMS)
            make_route(plan, model, channel, upstream_model="x")
        with CaptureQueriesContext(connection) as captured:
            page = desk.get(url(kind, action="changelist"))
        assert name in page.content.decode()
        return len(captured)

    few = queries(range(5, 8))
    assert queries(range(10, 30)) <= few <= 12


def test_every_add_page_and_search_opens(desk: Client, routed: MediaModel) -> None:
    for kind in ("mediamodel", "channel", "plan", "planchoice"):
        assert desk.get(url(kind, action="add")).status_code == 200, kind
        assert desk.get(url(kind, action="changelist"), {"q": "aurora"}).status_code == 200, kind


def test_models_are_found_by_their_aliases(desk: Client, aurora: MediaModel) -> None:
    naming.write(aurora, ["dawn"])
    assert "aurora" in desk.get(url("mediamodel", action="changelist"), {"q": "dawn"}).content.decode()


def test_a_channel_that_moves_to_another_origin_needs_the_secret_again(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    elsewhere = {"base_url": "https://thief.example/v1"}
    response = desk.post(url("channel", studio), credential_form(row, secret="") | elsewhere)
    assert set(errors(response)) == {"base_url"}
    assert "enter the secret again" in errors(response)["base_url"][0]
    assert Channel.objects.get().base_url == "https://studio.example/v1"
    assert credentials.of_channel(studio.pk)[0].retired_at is None
    assert desk.post(url("channel", studio), channel_form(**elsewhere)).status_code == 200


def test_a_channel_moves_with_a_new_secret_and_retires_the_others(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    other = make_second(studio)
    fields = credential_form(row, secret=SECRET) | {"base_url": "https://new.example/v1"}
    fields |= {"credentials-TOTAL_FORMS": "2", "credentials-INITIAL_FORMS": "2"}
    fields |= {"credentials-1-id": str(other.pk), "credentials-1-channel": str(studio.pk), "credentials-1-secret": ""}
    assert desk.post(url("channel", studio), fields).status_code == 302
    found = [(row.origin, row.last4, row.retired_at is None) for row in credentials.of_channel(studio.pk)]
    assert found == [
        ("https://studio.example", "1234", False),
        ("https://studio.example", "5678", False),
        ("https://new.example", "9876", True),
    ]
    assert "https://new.example" in desk.get(url("channel", studio)).content.decode()


def make_second(studio: Channel) -> Credential:
    return add_credential(studio, "the-second-credential-5678")


def test_what_else_a_credential_holds_does_not_move_with_a_new_api_key(desk: Client, studio: Channel) -> None:
    Credential.objects.all().delete()
    credentials.store(studio, {"api_key": "old", "secret_key": "the-other-secret"})
    fields = credential_form(Credential.objects.get(), secret=SECRET) | {"base_url": "https://new.example/v1"}
    assert desk.post(url("channel", studio), fields).status_code == 302
    assert opened(Channel.objects.get()) == {"api_key": SECRET}


def test_another_path_keeps_the_secret(desk: Client, studio: Channel) -> None:
    fields = credential_form(Credential.objects.get(), secret="") | {"base_url": "https://STUDIO.example:443/v2"}
    assert desk.post(url("channel", studio), fields).status_code == 302
    assert Credential.objects.get().retired_at is None


def test_a_changed_secret_is_a_new_row(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    desk.post(url("channel", studio), credential_form(row, secret=SECRET))
    old, new = credentials.of_channel(studio.pk)
    assert (old.pk, old.ciphertext, old.retired_at is None) == (row.pk, row.ciphertext, False)
    assert credentials.readable(new.ciphertext) == {"api_key": SECRET}
    assert "retired" in desk.get(url("channel", studio)).content.decode()


def test_a_retired_credential_cannot_be_enabled(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    credentials.store(studio, {"api_key": SECRET})
    response = desk.post(url("channel", studio), credential_form(row, switch="enable"))
    assert set(errors(response)) == {"switch"}
