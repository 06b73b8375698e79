"""The page of a group: its offer, its channels, and what it refuses by field."""

from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from accounts.models import Group
from adapters.base import ErrorKind
from catalog import snapshot
from catalog.models import CatalogVersion, Channel, GroupChannel, GroupOffer
from tests.catalog.test_admin import SECRET, channel_form, credential_form, errors, no_inlines
from tests.catalog.test_admin import url as catalog_url
from tests.refusing import refuse
from tests.rows import make_channel, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("operator"))
    return client


@pytest.fixture
def llm(db: None) -> Channel:
    return make_channel("llm", "openai_relay", "https://llm.example/v1")


def url(row: Group | None = None, *, action: str = "change") -> str:
    return reverse(f"admin:accounts_group_{action}", args=[] if row is None else [row.pk])


OFFER = {
    "offer-TOTAL_FORMS": "1",
    "offer-INITIAL_FORMS": "0",
    "offer-0-prices-0-pattern": "gpt-*",
    "offer-0-prices-0-input": "1.25",
    "offer-0-prices-0-output": "10",
    "offer-0-prices-0-cache_write": "2",
    "offer-0-prices-0-max_output_tokens": "4096",
    "offer-0-prices-0-audio_input": "3",
    "offer-0-prices-0-max_input_tokens": "400000",
    "offer-0-long_contexts-0-pattern": "gpt-*",
    "offer-0-long_contexts-0-above": "272000",
    "offer-0-long_contexts-0-input": "2.5",
    "offer-0-image_prices-0-pattern": "gpt-image-*",
    "offer-0-image_prices-0-usd": "0.04",
    "offer-0-image_prices-1-pattern": "gpt-image-2",
    "offer-0-image_prices-1-size": "1024x1024",
    "offer-0-image_prices-1-quality": "high",
    "offer-0-image_prices-1-usd": "0.17",
    "offer-0-image_prices-2-pattern": "gpt-image-2",
    "offer-0-image_prices-2-size": "*",
    "offer-0-image_prices-2-usd": "0.06",
    "offer-0-tool_prices-0-tool": "web_search",
    "offer-0-tool_prices-0-usd": "0.01",
    "offer-0-extra_betas-0-text": "context-1m-2025-08-07",
    "offer-0-listing": "these",
    "offer-0-models_listed-0-text": "gpt-5.2",
    "offer-0-extra_fields-0-text": "tools",
}


def form(channel: Channel | None = None, **fields: str) -> dict[str, str]:
    """A new group with an offer, and with a channel where one is given."""
    inline = {
        "channels-TOTAL_FORMS": "1",
        "channels-INITIAL_FORMS": "0",
        "channels-0-channel": str(channel.pk) if channel else "",
        "channels-0-priority": "5",
        "channels-0-weight": "3",
        "channels-0-dialects": "messages",
        "channels-0-upstream_models-0-public": "gpt-5.2",
        "channels-0-upstream_models-0-upstream": "vendor/gpt-5.2",
        "channels-0-enabled": "on",
    }
    return {
        "name": "text",
        "platform": "openai",
        "image_generation": "on",
        **OFFER,
        **(inline if channel else no_inlines("channels")),
    } | fields


def stored(group: Group) -> Any:
    return snapshot.latest().group(group.pk)


def test_one_page_makes_a_group_with_its_offer_and_its_channels(desk: Client, llm: Channel) -> None:
    assert desk.post(url(action="add"), form(llm)).status_code == 302
    entry = stored(Group.objects.get())
    price = entry.token_price("gpt-5.2")
    assert (price.input, price.cache_write, price.cached_input, price.max_output_tokens) == (1.25, 2, 1.25, 4096)
    assert (entry.models, entry.extra_fields, entry.image_generation) == (("gpt-5.2",), {"tools"}, True)
    assert (price.audio_input, price.audio_output, price.max_input_tokens) == (3, None, 400_000)
    assert (price.at(272_001).input, price.at(272_001).audio_input, price.at(272_000).input) == (2.5, 6, 1.25)
    assert entry.image_price("gpt-image-1").document() == "0.04"
    assert entry.image_price("gpt-image-2").document() == {"1024x1024": {"high": "0.17"}, "*": "0.06"}
    assert (entry.tool_prices, entry.extra_betas) == ({"web_search": Decimal("0.01")}, {"context-1m-2025-08-07"})
    (link,) = entry.channels
    assert (link.channel.name, link.priority, link.weight) == ("llm", 5, 3)
    assert link.dialects == {"chat", "responses", "images", "messages"}
    assert link.upstream_models == {"gpt-5.2": "vendor/gpt-5.2"}


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"offer-0-prices-0-output": ""}, "prices"),
        ({"offer-0-prices-0-pattern": ""}, "prices"),
        ({"offer-0-prices-1-pattern": "gpt-*", "offer-0-prices-1-input": "1"}, "prices"),
        ({"offer-0-prices-0-max_output_tokens": "0"}, "prices"),
        ({"offer-0-prices-0-max_output_tokens": "many"}, "prices"),
        ({"offer-0-image_prices-0-usd": "-1"}, "image_prices"),
        ({"offer-0-prices-0-image_tokens": "-1"}, "prices"),
        ({"offer-0-prices-0-audio_output": "x"}, "prices"),
        ({"offer-0-long_contexts-0-pattern": "o3"}, "long_contexts"),
        ({"offer-0-long_contexts-0-pattern": ""}, "long_contexts"),
        ({"offer-0-long_contexts-0-above": ""}, "prices"),
        ({"offer-0-long_contexts-0-above": "many"}, "prices"),
        ({"offer-0-long_contexts-0-input": "1"}, "prices"),
        ({"offer-0-image_prices-1-size": ""}, "image_prices"),
        ({"offer-0-image_prices-1-size": "big"}, "image_prices"),
        ({"offer-0-image_prices-1-quality": "auto"}, "image_prices"),
        ({"offer-0-image_prices-1-size": "*"}, "image_prices"),
        ({"offer-0-image_prices-2-size": ""}, "image_prices"),
        ({"offer-0-image_prices-2-usd": ""}, "image_prices"),
        ({"offer-0-image_prices-2-pattern": ""}, "image_prices"),
        ({"offer-0-image_prices-2-size": "1024x1024", "offer-0-image_prices-2-quality": "high"}, "image_prices"),
        ({"offer-0-tool_prices-0-usd": ""}, "tool_prices"),
        ({"offer-0-tool_prices-0-usd": "-1"}, "tool_prices"),
        ({"offer-0-extra_betas-1-text": "context-1m-2025-08-07"}, "extra_betas"),
        ({"offer-0-models_listed-0-text": "a\tb"}, "models_listed"),
        ({"offer-0-listing": "all"}, "models_listed"),
        ({"offer-0-extra_fields-1-text": "tools"}, "extra_fields"),
        ({"channels-0-dialects": "klingon"}, "dialects"),
        ({"channels-0-upstream_models-0-upstream": ""}, "upstream_models"),
        ({"channels-0-upstream_models-0-public": ""}, "upstream_models"),
        ({"platform": "gemini"}, "channel"),
    ],
)
def test_what_breaks_a_rule_is_told_at_its_field(
    desk: Client, llm: Channel, fields: dict[str, str], wrong: str
) -> None:
    response = desk.post(url(action="add"), form(llm, **fields))
    assert set(errors(response)) == {wrong}
    assert not Group.objects.exists()


def test_a_page_that_is_sent_back_as_it_came_changes_nothing(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    group = Group.objects.get()
    before = [list(model.objects.values()) for model in (Group, GroupOffer, GroupChannel)]
    ids = {"offer-0-id": str(group.offer.pk), "offer-0-group": str(group.pk), "offer-INITIAL_FORMS": "1"}
    ids |= {"channels-0-id": str(group.channels.get().pk), "channels-0-group": str(group.pk)}
    assert desk.post(url(group), form(llm, **ids, **{"channels-INITIAL_FORMS": "1"})).status_code == 302
    assert [list(model.objects.values()) for model in (Group, GroupOffer, GroupChannel)] == before
    assert "vendor/gpt-5.2" in desk.get(url(group)).content.decode()


def test_a_group_that_names_no_models_lists_all(desk: Client) -> None:
    desk.post(url(action="add"), form() | {"offer-0-listing": "all", "offer-0-models_listed-0-text": ""})
    assert GroupOffer.objects.get().models_listed is None


def test_a_channel_serves_one_group(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    response = desk.post(url(action="add"), form(llm, name="other"))
    assert set(errors(response)) == {"channel"}


def test_what_the_page_changes_holds_from_the_next_call_on(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    group = Group.objects.get()
    assert stored(group).image_generation
    switched_off = {"name": "text", "platform": "openai", **no_inlines("offer"), **no_inlines("channels")}
    assert desk.post(url(group), switched_off).status_code == 302
    assert not stored(group).image_generation
    assert desk.post(url(group, action="delete"), {"post": "yes"}).status_code == 302
    assert stored(group) is None
    assert Channel.objects.get() == llm


def test_the_page_and_the_list_show_how_channels_stand(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    refuse(llm, ErrorKind.TRANSIENT)
    assert "cooling down" in desk.get(url(Group.objects.get())).content.decode()
    listed = desk.get(url(action="changelist"), {"q": "llm"}).content.decode()
    assert "gpt-*, gpt-image-*, gpt-image-2" in listed
    assert "group text" in desk.get(catalog_url("channel", action="changelist")).content.decode()


def test_the_page_warns_of_prices_of_what_is_not_listed(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    page = desk.get(url(Group.objects.get())).content.decode()
    assert "prices models that it does not list: gpt-*, gpt-image-*, gpt-image-2." in page
    GroupOffer.objects.update(models_listed=None)
    CatalogVersion.raise_it()
    assert "does not list" not in desk.get(url(Group.objects.get())).content.decode()


def test_a_groups_channel_takes_a_key_on_its_own_page_and_hides_it(desk: Client, llm: Channel) -> None:
    desk.post(url(action="add"), form(llm))
    own = {"name": "llm", "adapter": "openai_relay", "base_url": llm.base_url}
    fields = credential_form(llm.credentials.get(), secret=SECRET) | own
    assert desk.post(catalog_url("channel", llm), fields).status_code == 302
    assert opened(llm) == {"api_key": SECRET}
    assert SECRET not in desk.get(catalog_url("channel", llm)).content.decode()
    elsewhere = credential_form(llm.credentials.last(), secret="") | own | {"base_url": "https://thief.example/v1"}
    assert set(errors(desk.post(catalog_url("channel", llm), elsewhere))) == {"base_url"}
    assert Channel.objects.get().base_url == "https://llm.example/v1"


def test_a_groups_channel_keeps_its_adapter_and_has_nothing_of_tasks(desk: Client, llm: Channel) -> None:
    GroupChannel.objects.create(group=Group.objects.create(name="text", platform="openai"), channel=llm)
    own = {"name": "llm", "adapter": "gemini_relay", "base_url": llm.base_url}
    odd = {"options-a": "1", "max_running": "3"}
    response = desk.post(catalog_url("channel", llm), channel_form(**own, **odd))
    found = errors(response)
    assert set(found) == {"adapter", "max_running"}
    assert found["adapter"][0] == "a is not an option of gemini_relay: clear it first."
    Channel.objects.update(options={"a": 1})
    response = desk.post(catalog_url("channel", llm), channel_form(**own | {"adapter": "openai_relay"}))
    assert set(errors(response)) == {"options-drop"}
