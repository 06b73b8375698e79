"""What the operator is told about groups of general keys."""

import pytest

from accounts.models import Group
from catalog import checks
from catalog.models import Channel, GroupChannel, GroupOffer
from tests.rows import make_channel

pytestmark = pytest.mark.django_db

PRICE = {"input": "1", "output": "2", "max_output_tokens": 100}


@pytest.fixture
def group(db: None) -> Group:
    """In order: a price, a channel with a credential."""
    group = Group.objects.create(name="text", platform="openai", image_generation=True)
    GroupOffer.objects.create(group=group, models_listed=["gpt-5.2"], prices={"gpt-5.2": PRICE})
    GroupChannel.objects.create(group=group, channel=make_channel("text-1", "openai_relay", "https://llm.example/v1"))
    return group


def test_a_group_in_order_has_no_problems(group: Group) -> None:
    assert checks.problems() == []


def test_a_group_without_an_enabled_channel_is_a_problem(group: Group) -> None:
    for change in (
        lambda: Channel.objects.update(enabled=False),
        lambda: (Channel.objects.update(enabled=True), GroupChannel.objects.update(enabled=False)),
        GroupChannel.objects.all().delete,
    ):
        change()
        assert "group text has no enabled channel" in checks.problems()


def test_listed_models_without_a_price_are_a_problem_and_so_are_no_prices_at_all(group: Group) -> None:
    GroupOffer.objects.update(models_listed=["o3", "gpt-5.2", "o4"], image_prices={"o4": "0.04"})
    assert checks.problems() == ["group text lists models that have no price: o3"]
    GroupOffer.objects.update(models_listed=None, prices={}, image_prices={})
    assert checks.problems() == ["group text has no prices: no model can be called"]
    GroupOffer.objects.all().delete()
    assert checks.problems() == ["group text has no prices: no model can be called"]


def test_the_credentials_of_a_groups_channel_are_told_as_of_every_channel(group: Group) -> None:
    Channel.objects.get().credentials.all().delete()
    assert checks.problems() == ["channel text-1 has no credential"]


def test_a_base_url_of_the_other_kind_is_a_problem(group: Group) -> None:
    Channel.objects.update(base_url="https://llm.example")
    assert checks.problems() == ["group text has a channel text-1 whose base_url lacks the version, such as /v1"]
    Group.objects.update(platform="gemini", image_generation=False)
    Channel.objects.update(base_url="https://llm.example/v1beta", adapter="gemini_relay")
    assert checks.problems() == ["group text has a channel text-1 whose base_url ends in v1beta: leave that away"]


def test_what_does_not_fit_the_platform_is_a_problem(group: Group) -> None:
    Group.objects.update(platform="anthropic")
    Channel.objects.update(base_url="https://llm.example")
    assert checks.problems() == [
        "group text allows images, which are made on the platform openai alone, not on anthropic",
        "group text needs the adapter anthropic_relay of its channel text-1, which has openai_relay",
    ]


def test_a_channel_that_serves_no_group_is_a_problem(group: Group) -> None:
    make_channel("spare", "openai_relay", "https://spare.example/v1")
    assert checks.problems() == ["no group has the channel spare, and its adapter openai_relay runs no tasks"]


def test_a_pattern_that_prices_what_is_not_listed_is_told(group: Group) -> None:
    listed = ["gpt-5.2", "gpt-image-2"]
    prices = dict.fromkeys(("gpt-5.2", "gpt-5.2-pro", "o?", "gpt-*"), PRICE)
    pictures = {"gpt-image-2": "0.04", "gpt-image-*": "0.04"}
    GroupOffer.objects.update(models_listed=listed, prices=prices, image_prices=pictures)
    assert checks.problems() == ["group text prices models that it does not list: gpt-*, gpt-5.2-pro, gpt-image-*, o?"]
    GroupOffer.objects.update(models_listed=None)
    assert checks.problems() == []


def test_a_price_without_the_most_output_is_told_and_of_pictures_apart(group: Group) -> None:
    endless = {"input": "1", "output": "2"}
    prices = {"gpt-5.2": endless, "o3": PRICE, "gpt-image-2": endless | {"image_output": "40"}}
    GroupOffer.objects.update(models_listed=None, prices=prices)
    assert checks.problems() == [
        "group text has prices without max_output_tokens, so that RELAY_OUTPUT_TOKENS are reserved: gpt-5.2",
        "group text has prices of pictures without max_output_tokens, so that RELAY_OUTPUT_TOKENS are reserved for "
        "each picture, whatever it takes: gpt-image-2",
    ]
