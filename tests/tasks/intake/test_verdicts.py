"""What is remembered of verdicts: never what a fresh look would not say."""

import random
from collections.abc import Iterator
from typing import Any

import pytest

from adapters import registry
from adapters.base import Target, TaskRequest, Unsupported
from catalog import snapshot
from catalog.models import ChannelModel, MediaModel, Plan, PlanChoice
from catalog.snapshot import Catalog
from common.errors import ApiError, NoCapableRoute
from tasks.intake import examination
from tasks.intake.examination import Examination
from tests.catalog.stubs import StubImages
from tests.rows import IssuedKey, make_channel, make_route
from tests.tasks import steps

IMAGES: dict[str, list[Any]] = {
    "prompt": ["a fox", "a fox " * 10, "a fox " * 40],
    "n": [None, 1, 2, 4],
    "image_size": [None, "1K", "2K"],
    "aspect_ratio": [None, "1:1", "16:9"],
    "extra_body": [None, None, {}, {"n": 3}, {"size": "2048x2048"}, {"n": "many"}],
}
FILMS: dict[str, list[Any]] = {
    "prompt": ["a fox", "a fox " * 10, "a fox --dur 10"],
    "duration": [5, 10],
    "resolution": ["720p", "1080p"],
    "aspect_ratio": ["16:9", "9:16"],
    "generate_audio": [None, True, False],
    "provider_options": [None, None, {"seed": 1}],
}


class Censor(StubImages):
    """An installed adapter that says nothing of prompts, and reads them."""

    protocol = "censor"

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return [Unsupported(field="params.prompt", reason="not here")] if "dog" in request.prompt else []


def examined(key: IssuedKey, catalog: Catalog, model: str, **given: Any) -> Examination:
    return examination.examine(key.id, {"model": model, "params": given}, catalog)


def seen(found: Examination) -> Any:
    is_refused = isinstance(found.outcome, ApiError)
    return (str(found.outcome), vars(found.outcome)) if is_refused else found.outcome, found.survey, found.request


def some(choices: dict[str, list[Any]], count: int) -> Iterator[dict[str, Any]]:
    """Always the same params."""
    chosen = random.Random(7)
    for _ in range(count):
        yield {name: value for name, values in choices.items() if (value := chosen.choice(values)) is not None}


@pytest.fixture
def two_routes(plan: Plan, image_model: MediaModel, video_model: MediaModel) -> None:
    """The first image channel takes short prompts at one size alone."""
    atelier = make_channel("atelier", "ark_images", "https://pictures.provider.example/api/v3")
    make_route(plan, image_model, atelier, upstream_model="seedream", priority=1)
    ChannelModel.objects.filter(channel=atelier).update(capabilities={"prompt_max": 100, "tiers": ["2K"]})


@pytest.mark.parametrize(("model", "choices"), [("aurora-image", IMAGES), ("comet-video", FILMS)])
def test_what_is_remembered_is_what_a_fresh_look_says(
    key: IssuedKey, two_routes: None, model: str, choices: dict[str, list[Any]]
) -> None:
    catalog, refused = snapshot.load(), 0
    for given in some(choices, 150):
        found = examined(key, catalog, model, **given)
        assert seen(found) == seen(examined(key, snapshot.load(), model, **given)), given
        refused += isinstance(found.outcome, ApiError)
    assert 0 < refused < 150


def test_prompts_that_are_no_longer_share_a_verdict(key: IssuedKey, two_routes: None) -> None:
    catalog = snapshot.load()
    found = examined(key, catalog, "aurora-image", prompt="a fox " * 10).survey
    assert examined(key, catalog, "aurora-image", prompt="an owl").survey is found
    others = [{"prompt": "a fox " * 11}, {"prompt": "an owl", "n": 2}, {"prompt": "an owl", "extra_body": {"n": 1}}]
    assert all(examined(key, catalog, "aurora-image", **given).survey is not found for given in others)


def test_a_verdict_is_of_a_plan_as_the_key_has_it(
    key: IssuedKey, other_key: IssuedKey, image_model: MediaModel
) -> None:
    gold = Plan.objects.create(name="gold", price_multiplier="0.5")
    make_route(gold, image_model, make_channel("other", "openai_images", "https://x.example"), upstream_model="x")
    PlanChoice.objects.create(key=other_key.record, model=image_model, plan=gold)
    catalog = snapshot.load()
    prices = [examined(each, catalog, "aurora-image", prompt="a fox").outcome.price for each in (key, other_key, key)]
    assert [price.estimate_micros for price in prices] == [40_000, 20_000, 40_000]
    under = [examined(each, catalog.under(gold.pk), "aurora-image", prompt="a fox").survey for each in (key, other_key)]
    assert [(survey.plan.name, survey.is_selected) for survey in under] == [("gold", True)] * 2


def test_a_price_that_changes_is_of_a_new_catalog(key: IssuedKey, image_model: MediaModel) -> None:
    assert steps.prepared(key).price.estimate_micros == 40_000
    image_model.prices = {"1K": "0.05"}
    image_model.save()
    assert steps.prepared(key).price.estimate_micros == 50_000


def test_an_adapter_that_says_nothing_of_prompts_is_asked_about_each(
    key: IssuedKey, plan: Plan, image_model: MediaModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.ADAPTERS, "censor", Censor())
    channel = make_channel("censor", "censor", "https://censor.example")
    make_route(plan, image_model, channel, upstream_model="x", priority=1)
    catalog = snapshot.load()
    for prompt, kept in (("a fox and an owl", [True, True]), ("a dog", [False, True]), ("a cat", [True, True])):
        found = examined(key, catalog, "aurora-image", prompt=prompt)
        assert [row["kept"] for row in found.outcome.decision.trace] == kept, prompt


def test_a_longer_prompt_and_a_command_are_judged_anew(
    key: IssuedKey, two_routes: None, image_model: MediaModel, video_model: MediaModel
) -> None:
    ChannelModel.objects.filter(channel__name="atelier").update(capabilities={"prompt_max": 20})
    catalog = snapshot.load()
    film = {"duration": 5, "resolution": "720p", "aspect_ratio": "16:9"}
    long, command = "a fox " * 10, "a fox --dur 9"
    for prompt in ("a fox in the snow", long, "an owl", long):
        picture = examined(key, catalog, "aurora-image", prompt=prompt).outcome
        assert len(picture.decision.kept) == (1 if prompt == long else 2), prompt
    for prompt in ("a fox in the snow", command, "an owl", command):
        outcome = examined(key, catalog, "comet-video", prompt=prompt, **film).outcome
        assert isinstance(outcome, NoCapableRoute) is (prompt == command), prompt
