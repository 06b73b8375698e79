"""`explain`: which routes a request would take and why, without anything sent or stored."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog import pausing
from catalog.models import Channel, ChannelModel, Credential, Plan, PlanChoice
from tasks.models import Task
from tests.refusing import rest
from tests.rows import make_channel, make_key, make_route
from tests.tasks.request.param_requests import data_url, image, video

pytestmark = pytest.mark.django_db


@pytest.fixture
def explain(tmp_path: Path, key):
    """The answer of --json and the error that ended the command, if one did."""

    def explain(
        params: Any, *options: str, model: str = "aurora-image", key: str = "key"
    ) -> tuple[dict[str, Any], str]:
        return told(tmp_path, params, "--json", *options, model=model, key=key, read=json.loads)

    return explain


@pytest.fixture
def lines(tmp_path: Path, key):
    return lambda params, **options: told(tmp_path, params, **options)


def told(folder: Path, params: Any, *options: str, model: str = "aurora-image", key: str = "key", read=str):
    file, output, error = folder / "params.json", io.StringIO(), ""
    file.write_text(json.dumps(params))
    try:
        call_command("explain", model, str(file), "--key", key, *options, stdout=output)
    except CommandError as raised:
        error = str(raised)
    return read(output.getvalue()), error


@pytest.fixture
def second_route(plan, image_model) -> Channel:
    """Of lower priority, and for one picture at a time."""
    channel = make_channel("atelier", "openai_images", "https://other.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-mini", priority=20, weight=3)
    ChannelModel.objects.filter(channel=channel).update(capabilities={"max_n": 1})
    return channel


def test_every_route_is_told_with_its_reasons_and_what_it_would_buy(explain, second_route):
    answer, error = explain(image(n=2))
    assert error == ""
    assert [(row["channel"], row["kept"], row["billed"]) for row in answer["routes"]] == [
        ("studio", True, {"tier": "1K", "count": 2}),
        ("atelier", False, None),
    ]
    assert [reason["field"] for reason in answer["routes"][1]["reasons"]] == ["params.n"]
    assert {"adapter", "upstream_model", "priority", "weight"} <= answer["routes"][0].keys()


def test_the_plan_that_the_key_chose_is_told_with_its_routes_and_prices(explain, image_model, second_route, key):
    gold = Plan.objects.create(name="gold", price_multiplier="1.5")
    make_route(gold, image_model, second_route, upstream_model="gpt-image-mini")
    PlanChoice.objects.create(key=key.record, model=image_model, plan=gold)
    answer, _ = explain(image())
    assert (answer["plan"], answer["plan_selected"]) == ("gold", True)
    assert [row["channel"] for row in answer["routes"]] == ["atelier"]
    assert answer["price"]["estimated_cost"] == 0.06


def test_the_price_and_the_upstream_request_are_told(explain, image_model):
    answer, _ = explain(image(n=2))
    assert answer["price"]["estimated_cost"] == 0.08
    assert answer["request"]["url"] == "https://images.provider.example/v1/images/generations"
    assert answer["request"]["body"]["model"] == "gpt-image-2"
    assert answer["request"]["body"]["n"] == 2


def test_no_credential_and_no_picture_is_shown_and_nothing_is_stored(explain, image_model):
    answer, _ = explain(image(images=[{"image_url": data_url()}]))
    text = json.dumps(answer)
    assert "credential" not in text
    assert "base64" not in text
    assert answer["request"]["files"][0]["source"].startswith("image/png, ")
    assert not Task.objects.exists()


def test_without_a_capable_route_the_routes_are_told_all_the_same(explain, second_route):
    answer, error = explain(image(extra_body={"quality": "high"}))
    assert [row["kept"] for row in answer["routes"]] == [False, False]
    assert (answer["price"], answer["request"]) == (None, None)
    assert error == (
        "TASK_NO_CAPABLE_ROUTE: No available route supports this request. "
        "params.extra_body.quality: is not allowed here: it can change the cost in ways that have no price."
    )
    assert answer["error"]["type"] == "TASK_NO_CAPABLE_ROUTE"


@pytest.mark.parametrize(
    ("params", "model", "type_"),
    [
        (image(n="two"), "aurora-image", "TASK_INVALID_REQUEST"),
        (image(), "nobody", "TASK_UNSUPPORTED_MODEL"),
        (image(extra_body={"size": "auto"}), "aurora-image", "TASK_PRICING_UNAVAILABLE"),
    ],
)
def test_a_request_that_would_be_refused_ends_with_that_error(explain, image_model, params, model, type_):
    answer, error = explain(params, model=model)
    assert answer["error"]["type"] == type_
    assert error.startswith(f"{type_}: ")


@pytest.mark.parametrize("what", ["channel", "model"])
def test_what_is_paused_is_told_in_words(explain, lines, image_model, image_channel, what):
    row = image_channel if what == "channel" else image_model
    pausing.pause(row)
    answer, error = explain(image())
    assert ([route["health"] for route in answer["routes"]], error) == (["paused"], "")
    assert answer["notes"] == [pausing.told(row)]
    assert f"notes: {pausing.name(row)} is paused since " in lines(image())[0]
    pausing.drain(row)
    answer, error = explain(image())
    assert error.startswith("TASK_UNSUPPORTED_MODEL")
    assert answer["notes"] == [pausing.told(row)]


def test_a_key_that_could_not_submit_is_told_so(explain, image_model, account):
    make_key(account, "general", binding="general")
    assert explain(image(), key="general")[1].startswith("TASK_SCOPE_REQUIRED")


def test_films_are_explained_too_and_a_modality_is_taken_into_account(explain, image_model, video_model):
    assert explain(image(), "--modality", "video")[1].startswith("TASK_UNSUPPORTED_ADAPTER")
    answer, _ = explain(video(duration=5), "--modality", "video", model="comet-video")
    assert (answer["modality"], answer["request"]["body"]["duration"]) == ("video", 5)


def test_a_channel_that_is_not_used_now_is_told(explain, second_route, image_channel):
    Credential.objects.filter(channel=image_channel).update(disabled_at="2026-11-21T00:00:00Z")
    rest(second_route.credentials.get())
    assert [row["health"] for row in explain(image())[0]["routes"]] == ["disabled", "cooling down"]


def refusal(file: object = "/dev/null", key: str = "key") -> str:
    with pytest.raises(CommandError) as caught:
        call_command("explain", "aurora-image", str(file), "--key", key)
    return str(caught.value)


def test_a_key_is_found_by_name_or_id(explain, image_model, key):
    assert explain(image(), key=str(key.id))[1] == ""
    assert refusal(key="nobody").startswith("--key: 'nobody' is neither")


def test_a_name_of_several_keys_is_refused(key, other_account):
    make_key(other_account, "key")
    assert refusal() == "--key: 'key' means several keys: give the id"


def test_a_file_that_is_no_json_object_is_refused_by_name(tmp_path, key):
    file = tmp_path / "broken.json"
    for text in (b"", b"[]", b"{", b'{"n": 1, "n": 2}', b"\xff"):
        file.write_bytes(text)
        assert refusal(file).startswith("PARAMS.json: "), text


def test_a_file_that_is_not_there_is_refused_by_name(key):
    assert refusal("/nowhere/params.json").startswith("PARAMS.json: '/nowhere/params.json' cannot be read")


def test_params_may_come_from_standard_input(key, image_model, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(json.dumps(image()).encode())))
    output = io.StringIO()
    call_command("explain", "aurora-image", "-", "--key", "key", "--json", stdout=output)
    assert json.loads(output.getvalue())["error"] is None


def test_without_json_the_answer_is_lines(lines, second_route):
    text, error = lines(image(n=2))
    assert error == ""
    assert "studio (openai_images, gpt-image-2, ok): kept, buys 2 of 1K" in text
    assert "atelier (openai_images, gpt-image-mini, ok): skipped, params.n: " in text
    assert "POST https://images.provider.example/v1/images/generations" in text
    assert "$0.04 × 2 (1K) = $0.08" in text
