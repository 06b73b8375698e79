"""`explain` of a general key: the price, the reserve, and the channels in the order in which they would be tried."""

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from accounts.models import Account, Group
from adapters.base import ErrorKind
from catalog import credentials
from catalog.health import relay_reading
from catalog.models import Channel, GroupChannel, GroupOffer
from tests.refusing import refuse
from tests.rows import make_channel, make_key

pytestmark = pytest.mark.django_db


@pytest.fixture
def group(account: Account) -> Group:
    group = Group.objects.create(name="text", platform="openai")
    prices = {
        "gpt-*": {"input": "1.25", "output": "10", "cached_input": "0.125"},
        "gpt-5*": {"input": "2", "output": "20", "max_output_tokens": 4096}
        | {"audio_input": "9", "long_context": {"above": 272000, "input": "4"}},
    }
    GroupOffer.objects.create(
        group=group,
        prices=prices,
        image_prices={"gpt-image-*": "0.04", "dall-e": {"1024x1024": {"hd": "0.08"}, "*": "0.06"}},
        models_listed=["o9"],
        tool_prices={"web_search": "0.010"},
        extra_fields=["service_tier"],
        extra_betas=["context-1m-2025-08-07"],
    )
    make_key(account, "general", binding="general", group=group)
    return group


@pytest.fixture
def channels(group: Group) -> dict[str, Channel]:
    def link(name: str, **fields: Any) -> Channel:
        channel = make_channel(name, "openai_relay", f"https://{name}.example/v1")
        GroupChannel.objects.create(group=group, channel=channel, **fields)
        return channel

    return {
        "second": link("second", priority=20, upstream_models={"gpt-5.2": "vendor/gpt"}),
        "first": link("first", priority=5),
        "off": link("off", priority=1, enabled=False),
    }


def explain(model: str, *options: str, read: Any = json.loads) -> tuple[Any, str]:
    output, error = io.StringIO(), ""
    arguments = ["--json"] if read is json.loads else []
    try:
        call_command("explain", model, "--key", "general", *arguments, *options, stdout=output)
    except CommandError as raised:
        error = str(raised)
    return read(output.getvalue() or "null"), error


def test_price_reserve_and_channels_are_told(channels: dict[str, Channel]) -> None:
    answer, error = explain("gpt-5.2", "--input-tokens", "100000")
    assert error == ""
    assert (answer["group"], answer["dialect"], answer["listed"]) == ("text", "chat", False)
    assert (answer["price"]["pattern"], answer["price"]["input"], answer["price"]["cached_input"]) == (
        "gpt-5*",
        "2",
        "2",
    )
    assert (answer["price"]["audio_input"], answer["price"]["image_tokens"]) == ("9", 16_384)
    assert "audio_output" not in answer["price"]
    long = answer["price"]["long_context"]
    assert (long["above"], long["input"], long["audio_input"], long["output"]) == (272_000, "4", "18", "20")
    assert (answer["tool_prices"], answer["extra_fields"], answer["extra_betas"]) == (
        {"web_search": "0.01"},
        ["service_tier"],
        ["context-1m-2025-08-07"],
    )
    assert answer["reserve"] == {"input_tokens": 100_000, "output_tokens": 4096, "estimated_cost": 0.28192}
    assert [(row["channel"], row["upstream_model"], row["kept"], row["reason"]) for row in answer["channels"]] == [
        ("first", "gpt-5.2", True, ""),
        ("second", "vendor/gpt", True, ""),
        ("off", None, False, "is disabled"),
    ]


@pytest.mark.parametrize(
    ("model", "limit", "output_tokens"), [("gpt-5.2", "100", 100), ("gpt-5.2", "9999", 4096), ("gpt-4", "9999", 9999)]
)
def test_the_lower_limit_of_the_answer_is_reserved(
    channels: dict[str, Channel], model: str, limit: str, output_tokens: int
) -> None:
    assert explain(model, "--output-tokens", limit)[0]["reserve"]["output_tokens"] == output_tokens


def test_it_reads_as_lines(channels: dict[str, Channel]) -> None:
    text, _ = explain("gpt-5.2", read=str)
    assert "price: USD per million tokens: pattern gpt-5*, input 2, output 20, " in text
    assert "long_context (above 272000, input 4, output 20, " in text
    assert "\ntools: USD per call: web_search 0.01\npasses: service_tier, context-1m-2025-08-07\n" in text
    assert "reserve: $0.08392 for 1000 input tokens, 4096 output tokens" in text
    assert "\n  priority 5 weight 1 first (https://first.example/v1, gpt-5.2): kept, 1 credentials\n" in text


def test_why_a_channel_is_left_out_is_told(channels: dict[str, Channel]) -> None:
    row = credentials.of_channel(channels["first"].pk)[0]
    credentials.disable(row, "by an operator")
    row.save()
    refuse(channels["second"], ErrorKind.OVERLOADED, retry_after=300)
    relay_reading.forget()
    answer, error = explain("gpt-5.2")
    first, second, _ = answer["channels"]
    assert first["reason"] == "every credential is disabled"
    assert second["reason"].startswith("cools down for ")
    assert error.startswith("rate_limit_error: ")
    assert [row["reason"] for row in explain("gpt-5.2", "--dialect", "messages")[0]["channels"]][:2] == [
        "does not speak messages",
        "does not speak messages",
    ]


@pytest.mark.parametrize(
    ("model", "options", "error"),
    [
        ("o3", [], "not_found_error"),
        ("o9", [], "TASK_PRICING_UNAVAILABLE"),
        ("gpt-5.2", ["--dialect", "messages"], "not_found_error"),
        ("gpt-image-2", ["--dialect", "images"], "not_found_error: Images API is not supported for this platform"),
        ("gpt-5.2", ["--modality", "image"], "--modality: is of tasks"),
        ("gpt-5.2", ["--dialect", "klingon"], "--dialect"),
        ("gpt-5.2", ["--input-tokens", "-1"], "--input-tokens"),
        ("gpt-5.2", [], ""),
    ],
)
def test_the_error_that_the_caller_would_get_ends_the_command(
    channels: dict[str, Channel], model: str, options: list[str], error: str
) -> None:
    answer, ended = explain(model, *options)
    assert ended.startswith(error)
    assert bool(ended) == bool(error)
    if answer and error:
        assert ended == f"{answer['error']['type']}: {answer['error']['message']}"


def test_a_picture_has_a_price_of_its_own(group: Group, channels: dict[str, Channel]) -> None:
    group.image_generation = True
    group.save()
    answer, error = explain("gpt-image-2", "--dialect", "images")
    assert error == ""
    assert answer["price"] == {"per": "picture", "usd": "0.04"}
    assert answer["reserve"] == {"pictures": 1, "estimated_cost": 0.04}
    tiered, _ = explain("dall-e", "--dialect", "images")
    assert tiered["price"] == {
        "per": "picture",
        "usd": "0.08",
        "tiers": {"1024x1024": {"hd": "0.08"}, "*": "0.06"},
    }
    assert "usd 0.08, tiers (1024x1024 (hd 0.08), * 0.06)" in explain("dall-e", "--dialect", "images", read=str)[0]


def test_a_key_that_may_call_nothing_is_told_so(group: Group, account: Account) -> None:
    Account.objects.update(billing="subscription")
    assert explain("gpt-5.2")[1].startswith("TASK_BILLING_UNSUPPORTED")
    Account.objects.update(billing="balance")
    assert explain("gpt-5.2")[1].startswith("overloaded_error")
    make_key(account, "alone", binding="general")
    output = io.StringIO()
    with pytest.raises(CommandError, match="permission_error"):
        call_command("explain", "gpt-5.2", "--key", "alone", stdout=output)
    assert "channels: 0" in output.getvalue()


def test_a_task_key_needs_its_params_and_has_no_dialect(account: Account, tmp_path: Any) -> None:
    make_key(account, "shop")
    with pytest.raises(CommandError, match=r"PARAMS\.json: is required"):
        call_command("explain", "aurora", "--key", "shop")
    file = tmp_path / "params.json"
    file.write_text("{}")
    with pytest.raises(CommandError, match="--dialect: is of general keys"):
        call_command("explain", "aurora", str(file), "--key", "shop", "--dialect", "chat")
