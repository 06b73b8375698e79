"""The catalog in the admin: what it writes, refuses by field, and never shows."""

import html
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.forms import ModelForm
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from adapters.base import ErrorKind
from catalog import credentials, naming, snapshot
from catalog.models import Channel, ChannelModel, Credential, MediaModel, Plan, Route
from tasks.shown import eta
from tests.catalog.stubs import StubImages
from tests.refusing import disable, refuse
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


def rows(field: str, *cells: dict[str, str]) -> dict[str, str]:
    """A list of rows as a browser sends it."""
    return {f"{field}-{number}-{name}": value for number, row in enumerate(cells) for name, value in row.items()}


def tiers(**usd: str) -> dict[str, str]:
    return rows("prices", *({"tier": tier, "usd": price} for tier, price in usd.items()))


def model_form(plan: Plan, prices: dict[str, str] | None = None, **fields: str) -> dict[str, str]:
    return {
        "name": "nova",
        **rows("aliases", {"text": "star"}, {"text": "sun"}),
        "modality": "video",
        "default_plan": str(plan.pk),
        "pricing_mode": "video_duration",
        **(tiers(**{"*": "0.1"}) if prices is None else prices),
        "enabled": "on",
    } | fields


def image_form(plan: Plan, prices: dict[str, str] | None = None, **fields: str) -> dict[str, str]:
    priced = {"modality": "image", "pricing_mode": "image_matrix", "image_size_values-0-text": "1K"}
    return model_form(plan, tiers(**{"1K": "1"}) if prices is None else prices, **priced) | fields


def channel_form(**fields: str) -> dict[str, str]:
    return {
        "name": "studio",
        "adapter": "stub_images",
        "base_url": "https://studio.example/v1/",
        "max_running": "",
        "enabled": "on",
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
    fields = image_form(plan, name="dawn", **rows("aliases", {"text": "aurora"}, {"text": ""}))
    assert desk.post(url("mediamodel", aurora), fields).status_code == 302
    catalog = snapshot.latest()
    assert catalog.models_named("dawn") == catalog.models_named("aurora")
    assert catalog.models_named("dawn")[0].name == "dawn"


TAKEN = {"name": "aurora"}
WRONG_MODELS = [
    (TAKEN, "name"),
    (rows("aliases", {"text": "aurora"}), "aliases"),
    (rows("aliases", {"text": "nova"}), "aliases"),
    (rows("aliases", {"text": "x" * 201}), "aliases"),
    (tiers(**{"1K": "-1"}), "prices"),
    (tiers(**{"1K": "NaN"}), "prices"),
    (tiers(**{"1K": ""}), "prices"),
    (tiers(**{"": "1"}), "prices"),
    (tiers(**{"": ""}), "prices"),
    (rows("prices", {"tier": "1K", "usd": "1"}, {"tier": "1K", "usd": "2"}), "prices"),
    (tiers(**{"1K": "9" * 5_000}), "prices"),
    ({"pricing_mode": "video_duration"}, "pricing_mode"),
    ({"n_max": "0"}, "n_max"),
    ({"n_max": "4.5"}, "n_max"),
    ({"images_max": "-1"}, "images_max"),
    ({"image_size_values-0-text": ""}, "image_size_values"),
    ({"image_size_default": "2K"}, "image_size_default"),
    ({"aspect_ratio_default": "1:1"}, "aspect_ratio_values"),
    (rows("aspect_ratio_values", {"text": "1:1"}, {"text": "1:1"}), "aspect_ratio_values"),
    ({"default_plan": ""}, "default_plan"),
]


def test_a_wrong_model_is_refused_at_its_field(desk: Client, plan: Plan, aurora: MediaModel) -> None:
    fields = image_form(plan)
    for wrong, named in WRONG_MODELS:
        response = desk.post(url("mediamodel", action="add"), fields | wrong)
        assert response.status_code == 200, wrong
        assert set(errors(response)) == {named}, wrong
        assert str(errors(response)[named][0]).split(": ")[-1].rstrip(".") in html.unescape(response.content.decode())


def test_a_resolution_in_two_spellings_is_refused(desk: Client, plan: Plan) -> None:
    fields = model_form(plan, tiers(**{"720p": "0.1", "720P": "0.2"}))
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
    wrong = ("two\twords", "{", '{"a":' + "[" * 5_000, '{"api_key": 7}', '{"api_key": ""}', '{"b": "Token abc"}')
    for secret in (*wrong, f" {SECRET}", f"{SECRET}\n", f"Bearer {SECRET}", f"\u200b{SECRET}"):
        response = desk.post(url("channel", action="add"), credential_form(secret=secret))
        assert set(errors(response)) == {"secret"}, secret[:40]
        assert SECRET not in response.content.decode()
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
    disable(row)
    desk.post(url("channel", studio), credential_form(row, switch="disable"))
    assert Credential.objects.get().probe_at is None


def test_saving_a_page_leaves_what_was_disabled_meanwhile_disabled(desk: Client, studio: Channel) -> None:
    row = Credential.objects.get()
    disable(row)
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
    disable(Credential.objects.get(channel=studio))
    refuse(atelier, ErrorKind.OVERLOADED, retry_after=600)
    page = desk.get(url("channel", action="changelist")).content.decode()
    assert "auth: Bad key." in page
    assert "disabled since 20" in page
    assert "cooling down until 20" in page
    assert "disabled by itself" in desk.get(url("channel", studio)).content.decode()
    assert "the channel&#x27;s last fault: overloaded" in desk.get(url("channel", atelier)).content.decode()


WRONG_CHANNELS = [
    ("adapter", {"adapter": "unheard_of"}),
    ("base_url", {"base_url": "ftp://x"}),
    ("options-rows", {"options-rows-0-path": "dialect"}),
    ("options-rows", {"options-rows-0-value": "openai"}),
    ("options-rows", {"options-rows-0-path": "dialect", "options-rows-0-value": '{"a": 1, "a": 2}'}),
    ("options-rows", {f"options-rows-{n}-{name}": "dialect" for n in (0, 1) for name in ("path", "value")}),
    ("options-rows", {"options-rows-0-path": "zoom", "options-rows-0-value": "1"}),
    ("max_running", {"max_running": "0"}),
    ("max_running", {"max_running": "-1"}),
]


def test_a_wrong_channel_is_refused_at_its_field(desk: Client) -> None:
    for field, values in WRONG_CHANNELS:
        response = desk.post(url("channel", action="add"), channel_form(**values))
        assert response.status_code == 200, values
        assert set(errors(response)) == {field}, values


def offer(desk: Client, channel: Channel, model: MediaModel, **fields: str) -> Any:
    """The answer to the page on which the channel gets the model."""
    values = {"model": str(model.pk), "upstream_model": "gpt-image-2", "enabled": "on"}
    return desk.post(f"{url('channelmodel', action='add')}?channel={channel.pk}", values | fields)


def test_a_channel_gets_a_model(desk: Client, studio: Channel, aurora: MediaModel) -> None:
    answer = offer(desk, studio, aurora, **{"cost-0-tier": "1K", "cost-0-usd": "0.02", "cost-1-tier": "2K"})
    assert (answer.status_code, answer["Location"]) == (302, f"{url('channel', studio)}#models")
    row = ChannelModel.objects.get()
    assert (row.channel, row.capabilities, row.cost) == (studio, {}, {"1K": "0.02"})


def test_the_adapter_is_asked_about_capabilities(desk: Client, studio: Channel, aurora: MediaModel) -> None:
    odd = {"capabilities-rows-0-path": "odd", "capabilities-rows-0-value": "1"}
    response = offer(desk, studio, aurora, **odd)
    assert errors(response) == {"capabilities-rows": ["capabilities.odd: unknown"]}


def test_the_fields_of_a_channel_model_are_kept_and_judged_at_their_place(
    desk: Client, studio: Channel, aurora: MediaModel
) -> None:
    wrong = {"allow-more-0-text": "a b", "fixed-more-0-path": "quality"}
    assert errors(offer(desk, studio, aurora, **wrong)) == {
        "allow-more": ["[0]: must be a path like quality, svg.model or tools[].type"],
        "fixed-more": ["quality: enter its value, or clear the row."],
    }
    fields = {"allow-more-0-text": "seed", "fixed-more-0-path": "quality", "fixed-more-0-value": "medium"}
    offer(desk, studio, aurora, **fields)
    row = ChannelModel.objects.get()
    assert (row.extra_fields, row.fixed) == (["seed"], {"quality": "medium"})
    again = offer(desk, studio, aurora)
    assert errors(again) == {"model": [f"studio already offers {aurora}: change it on its own page."]}


def test_a_model_of_another_modality_than_the_adapters_is_refused(desk: Client, studio: Channel, plan: Plan) -> None:
    film = make_model("film", "video", plan=plan, prices={"*": "1"})
    assert set(errors(offer(desk, studio, film))) == {"model"}


def test_an_option_that_a_model_of_the_channel_cannot_go_with_is_refused(
    desk: Client, routed: MediaModel, studio: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(StubImages, "validate", lambda self, target: ["capabilities.x: no"] * bool(target.options))
    option = {"options-rows-0-path": "dialect", "options-rows-0-value": "xai"}
    response = desk.post(url("channel", studio), channel_form(base_url=studio.base_url, **option))
    assert errors(response) == {"options-rows": ["Its model aurora: capabilities.x: no"]}


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
def test_list_pages_ask_the_same_number_of_queries_for_any_number_of_rows(
    desk: Client, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(eta, "REFRESH_SECONDS", 10**9)  # what is kept for some seconds is there, as is the catalog

    def queries(rows: range) -> int:
        for number in rows:
            plan = Plan.objects.create(name=f"plan-{number}")
            channel = make_channel(f"channel-{number}", "stub_images", "https://x.example")
            model = make_model(f"model-{number}", "image", plan=plan, prices={"1K": "1"}, params=IMAGE_PARAMS)
            make_route(plan, model, channel, upstream_model="x")
        snapshot.latest()
        eta.usual(0)
        with CaptureQueriesContext(connection) as captured:
            page = desk.get(url(kind, action="changelist"))
        assert name in page.content.decode()
        return len(captured)

    few = queries(range(5, 8))
    assert queries(range(10, 30)) <= few <= 12


def test_every_add_page_and_search_opens(desk: Client, routed: MediaModel) -> None:
    for kind in ("mediamodel", "channel", "channelmodel", "plan", "planchoice"):
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
