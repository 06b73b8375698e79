"""Whose the fields of a described provider are: the template's places and its `neutral` say it."""

from dataclasses import replace
from typing import Any

import pytest

from adapters import expression
from adapters.base import Target
from tests.adapters.making import image_request
from tests.adapters.template.templates import AT_ONCE, adapter, target_of

BODY = {
    "model": "{model}",
    "safety": "high",
    "input": {"prompt": "{prompt}", "n": "{n}", "pictures": "{images}", "shape": "{aspect_ratio}", "steps": 20},
}
TEMPLATE = AT_ONCE | {
    "submit": {"path": "/draw", "body": BODY},
    "input_at": "input",
    "options": ["seed", "style", "format"],
    "neutral": {"seed": [], "format": ["png"]},
}


def target(**more: Any) -> Target:
    return replace(target_of(TEMPLATE), **more)


def refused(extra_body: dict[str, Any], **more: Any) -> list[str]:
    request = image_request(image_size=None, extra_body=extra_body)
    return [p.field.removeprefix("params.extra_body.") for p in expression.check(adapter, request, target(**more))]


def complaints(**changes: Any) -> list[str]:
    return expression.complaints(adapter, target_of(TEMPLATE | changes))


def test_neutral_options_are_anybodys() -> None:
    assert complaints() == []
    for given in ({"seed": 7}, {"format": "png"}, {"input": {"n": 2, "prompt": "an owl", "steps": 20, "seed": 7}}):
        assert refused(given) == [], given


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"style": "noir"}, "style"),
        ({"input": {"n": 1, "steps": 20, "style": "noir"}}, "input.style"),
        ({"format": "gif"}, "format"),
        ({"wonder": 1}, "wonder"),
        ({"input": {"n": 1, "steps": 20, "wonder": 1}}, "input.wonder"),
    ],
)
def test_other_fields_are_the_operators(given: dict[str, Any], named: str) -> None:
    assert refused(given) == [named]
    assert refused(given, extra_fields=[named]) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"safety": "none"}, "safety"),
        ({"input": {"n": 1, "steps": 900}}, "input.steps"),
        ({"input": {"n": 1, "pictures": ["https://x.example/1.png"]}}, "input.pictures"),
        ({"model": "dearer"}, "model"),
        ({"num_images": 8}, "num_images"),
        ({"input": {"n": 1, "batch_size": 8}}, "input.batch_size"),
        ({"seed": {"batch": 8}}, "seed"),
        ({"input": {"n": 1, "prompt": " "}}, "input.prompt"),
        ({"input": {"n": 1, "prompt": "x" * 32_001}}, "input.prompt"),
    ],
)
def test_some_pass_for_nobody(given: dict[str, Any], named: str) -> None:
    assert named in refused(given)
    assert named in refused(given, extra_fields=[named])


def test_a_prompt_inside_a_given_object_is_checked_as_a_prompt() -> None:
    given = {"input": {"n": 1, "steps": 20, "prompt": "an owl in the snow"}}
    assert refused(given, capabilities={"prompt_max": 10}) == ["input.prompt"]
    assert refused(given, capabilities={"prompt_max": 100}) == []


@pytest.mark.parametrize(
    "name", ["num_images", "batch_size", "numOutputs", "quality", "Mode", "metadata", "fps", "seconds"]
)
def test_what_could_be_a_count_a_length_or_a_quality_is_not_neutral(name: str) -> None:
    (complaint,) = complaints(options=[name], neutral=[name])
    assert complaint == f"options.template.neutral.{name}: can change the cost"
    (complaint,) = complaints(options={"seed": f"input.{name}"}, neutral=["seed"])
    assert complaint == "options.template.neutral.seed: can change the cost"


def test_neutral_is_a_list_of_names_or_an_object_of_their_values() -> None:
    assert complaints(neutral=["seed"]) == []
    for odd in ("seed", [7], {"seed": 7}, {"seed": [[]]}):
        (complaint,) = complaints(neutral=odd)
        assert complaint.startswith("options.template.neutral: must be"), odd


def test_options_are_fixed_by_their_names() -> None:
    assert expression.complaints(adapter, target(fixed={"style": "noir", "seed": 7})) == []
    built = expression.build(adapter, image_request(image_size=None), target(fixed={"style": "noir"}))
    assert built.body["input"]["style"] == "noir"
    for fixed in ({"safety": "none"}, {"input": {"n": 3}}, {"input": {"style": "noir"}}):
        assert expression.complaints(adapter, target(fixed=fixed)), fixed


def test_without_a_usable_template_a_request_is_refused_and_nothing_breaks() -> None:
    for options in ({}, {"template": "gone"}, {"template": {"modalities": ["image"]}}):
        assert expression.check(adapter, image_request(), replace(target(), options=options)), options
