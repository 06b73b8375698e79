"""Upstream fields that a caller gives: which pass, which are the operator's, and what the operator fixes."""

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters import expression, fields
from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import prompt_commands
from adapters.kit.field_table import is_same
from adapters.kit.settings import SettingsObject
from adapters.kit.upstream_fields import FieldKind, UpstreamField, forbidden, neutral, operators, priced
from tests.adapters.making import image_request, image_target, video_request

TOLD = "https://provider.example/docs"
SETTINGS = SettingsObject(place="config", names=frozenset({"seed", "image", "thinking"}))


class Tabled:
    """An adapter that sends whatever it gets, and lists its fields."""

    settings = SETTINGS
    listed: Sequence[UpstreamField] = (
        *neutral(TOLD, "seed", "labels", "config.seed"),
        *neutral(TOLD, "format", values=("png", "jpeg")),
        *neutral(TOLD, "mode", values=("single",), otherwise=FieldKind.FORBIDDEN),
        *neutral(TOLD, "config.image.ratio", derived=True),
        *neutral(TOLD, "prompt", derived=True, replaces="prompt"),
        *priced(TOLD, "n", "config.image.size"),
        *operators(TOLD, "quality", "svg.effort", "tools[].type", "config.thinking", "provider"),
        *forbidden(TOLD, "model", "svg.model", "provider.options"),
    )

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return self.listed

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        return prompt_commands.seedance(prompt)

    def validate(self, target: Target) -> list[str]:
        return []

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(SETTINGS.problems(request.extra_body))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        derived = {"n": request.n, "config": {"image": {"ratio": request.aspect_ratio}}}
        body = SETTINGS.merged(derived, request.extra_body) | dict(request.provider_options)
        return UpstreamRequest(path="/", body=body, billed=Billed(count=1, tier=None))


class Untold:
    """What an installed package may have: an adapter without a list."""

    validate, check, build = Tabled.validate, Tabled.check, Tabled.build


ADAPTER: Any = Tabled()


def refused(extra_body: dict[str, Any], adapter: Any = ADAPTER, **more: Any) -> list[str]:
    request = image_request(extra_body=extra_body)
    return [problem.field for problem in expression.check(adapter, request, replace(image_target(), **more))]


def sent(extra_body: dict[str, Any], fixed: dict[str, Any]) -> Any:
    target = replace(image_target(), fixed=fixed)
    assert expression.check(ADAPTER, image_request(extra_body=extra_body), target) == []
    return expression.build(ADAPTER, image_request(extra_body=extra_body), target).body


def complaints(adapter: Any = ADAPTER, **more: Any) -> list[str]:
    return expression.complaints(adapter, replace(image_target(), **more))


@pytest.mark.parametrize(
    "extra_body",
    [
        {"seed": 7},
        {"n": 3},
        {"labels": {"a": {"b": [1, {}]}}},
        {"format": "png"},
        {"mode": "single"},
        {"config": {"seed": 7, "image": {"ratio": "1:1", "size": "2K"}}},
        {"config": {}},
        {"image": {"size": "2K"}},
    ],
)
def test_neutral_and_priced_fields_pass(extra_body: dict[str, Any]) -> None:
    assert refused(extra_body) == []


@pytest.mark.parametrize(
    ("extra_body", "field"),
    [
        ({"quality": "high"}, "quality"),
        ({"Seed": 7}, "Seed"),
        ({"N": 7}, "N"),
        ({"metadata": {"n": 7}}, "metadata"),
        ({"extra_body": {"quality": "high"}}, "extra_body"),
        ({"unheard_of": {}}, "unheard_of"),
        ({"format": "gif"}, "format"),
        ({"format": "PNG"}, "format"),
        ({"mode": "many"}, "mode"),
        ({"model": "dearer"}, "model"),
        ({"svg": {"model": "dearer"}}, "svg.model"),
        ({"svg[model]": "dearer"}, 'extra_body["svg[model]"]'),
        ({"svg.model": "dearer"}, 'extra_body["svg.model"]'),
        ({"n[]": 4}, 'extra_body["n[]"]'),
        ({"seed[]": 4}, 'extra_body["seed[]"]'),
        ({"svg": {"effort": "high"}}, "svg.effort"),
        ({"tools": [{"type": "search"}]}, "tools[0].type"),
        ({"tools": [{}, {"kind": "search"}]}, "tools[1].kind"),
        ({"svg": [{"model": "dearer"}]}, "svg[0].model"),
        ({"config": {"Thinking": 9}}, "config.Thinking"),
        ({"config": {"thinking": {"budget": 9}}}, "config.thinking"),
        ({"thinking": {"budget": 9}}, "thinking"),
        ({"config": {"image": {"people": "all"}}}, "config.image.people"),
        ({"config": {"Seed": 9}}, "config.Seed"),
        ({"provider": {"sort": "price"}}, "provider.sort"),
        ({"provider": {}}, "provider"),
        ({"provider": [{}]}, "provider[0]"),
        ({"provider": {"options": {"a": 1}}}, "provider.options"),
    ],
)
def test_every_other_field_rules_the_route_out_by_its_path(extra_body: dict[str, Any], field: str) -> None:
    assert refused(extra_body) == [f"params.{field}" if '["' in field else f"params.extra_body.{field}"]


def test_a_billed_field_in_a_forms_spelling_inside_an_object_is_refused() -> None:
    assert refused({"config": {"image[size]": "4K"}}) == ['params.extra_body.config["image[size]"]']


def test_options_of_films_are_judged_alike() -> None:
    request = video_request(provider_options={"seed": 1, "quality": "high"})
    (problem,) = fields.problems(ADAPTER, request, image_target())
    assert problem.field == "params.provider_options.quality"


def test_an_adapter_without_a_list_lets_nothing_pass_but_what_the_operator_names() -> None:
    untold = Untold()
    assert refused({"seed": 7, "size": "2K"}, untold) == ["params.extra_body.seed", "params.extra_body.size"]
    assert refused({"seed": 7}, untold, extra_fields=["seed"]) == []


@pytest.mark.parametrize(
    ("extra_body", "named"),
    [
        ({"quality": "high"}, "quality"),
        ({"format": "gif"}, "format"),
        ({"config": {"thinking": {"budget": 9}}}, "config.thinking"),
        ({"thinking": {"budget": 9}}, "config.thinking"),
        ({"config": {"thinking": {"budget": 9}}}, "thinking"),
        ({"svg": {"effort": "high"}}, "svg.effort"),
        ({"svg[effort]": "high"}, "svg.effort"),
        ({"svg": {"effort": "high"}}, "svg"),
        ({"tools": [{"type": "search"}]}, "tools[].type"),
        ({"metadata": {"a": {"b": 1}}}, "metadata.a"),
    ],
)
def test_the_operator_lets_a_field_pass_by_naming_it(extra_body: dict[str, Any], named: str) -> None:
    assert refused(extra_body) != []
    assert refused(extra_body, extra_fields=[named]) == []


def test_what_is_forbidden_stays_so_below_a_field_that_the_operator_opens() -> None:
    opened = {"extra_fields": ["svg", "provider"]}
    assert refused({"svg": {"effort": "high", "model": "dearer"}}, **opened) == ["params.extra_body.svg.model"]
    assert refused({"provider": {"sort": "price", "options": {}}}, **opened) == ["params.extra_body.provider.options"]
    assert refused({"svg": [{"model": "dearer"}]}, **opened) == ["params.extra_body.svg[0].model"]
    assert refused({"svg": {"Model": "dearer", "x": 1}}, **opened) == ["params.extra_body.svg.Model"]
    assert refused({"svg[model]": "dearer", "svg[x]": 1}, **opened) == ['params.extra_body["svg[model]"]']


def test_what_is_fixed_is_sent_and_no_other_value_passes() -> None:
    assert sent({}, {"quality": "medium"})["quality"] == "medium"
    assert sent({"quality": "medium"}, {"quality": "medium"})["quality"] == "medium"
    assert refused({"quality": "high"}, fixed={"quality": "medium"}) == ["params.extra_body.quality"]
    assert refused({"quality": {"of": "medium"}}, fixed={"quality": "medium"}) == ["params.extra_body.quality"]
    assert refused({"svg": 1}, fixed={"svg": {"effort": "low"}}) == ["params.extra_body.svg"]
    assert refused({"svg": {"effort": 1}}, fixed={"svg": {"effort": True}}) == ["params.extra_body.svg.effort"]


@pytest.mark.parametrize("fixed", [{"thinking": {"budget": 0}}, {"config": {"thinking": {"budget": 0}}}])
def test_a_fixed_setting_leaves_the_rest_of_its_object(fixed: dict[str, Any]) -> None:
    settings = {"thinking": {"budget": 0}, "image": {"ratio": "1:1"}}
    assert sent({}, fixed)["config"] == settings
    assert sent({"seed": 7}, fixed)["config"] == {**settings, "seed": 7}
    assert sent({"config": {"seed": 7}}, fixed)["config"] == {"thinking": {"budget": 0}, "seed": 7}
    assert sent({"config": {"thinking": {"budget": 0}}}, fixed)["config"] == {"thinking": {"budget": 0}}
    other = {"thinking": {"budget": 9}}
    for given, path in [(other, "thinking.budget"), ({"config": other}, "config.thinking.budget")]:
        assert refused(given, fixed=fixed) == [f"params.extra_body.{path}"]


def test_the_fields_of_a_fixed_object_join_those_of_the_caller() -> None:
    fixed = {"provider": {"sort": "price"}}
    target = replace(image_target(), fixed=fixed, extra_fields=["provider"])
    request = image_request(extra_body={"provider": {"order": ["a"]}})
    assert expression.check(ADAPTER, request, target) == []
    assert expression.build(ADAPTER, request, target).body["provider"] == {"order": ["a"], "sort": "price"}


def test_a_fixed_list_is_one_value() -> None:
    tools = [{"type": "search"}]
    assert sent({"tools": tools}, {"tools": tools})["tools"] == tools
    assert refused({"tools": [*tools, {}]}, fixed={"tools": tools}) == ["params.extra_body.tools"]


def test_an_adapter_checks_what_goes_out() -> None:
    class Checking(Tabled):
        def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
            return [Unsupported(field=f"params.extra_body.{name}", reason="is seen") for name in request.extra_body]

    assert refused({}, Checking(), fixed={"quality": "medium"}) == ["params.extra_body.quality"]


def test_of_films_the_options_are_fixed() -> None:
    target = replace(image_target(), fixed={"quality": "medium"})
    assert expression.build(ADAPTER, video_request(), target).body["quality"] == "medium"


@pytest.mark.parametrize(
    ("more", "start"),
    [
        ({"extra_fields": ["model"]}, "extra_fields[0]: model is forbidden"),
        ({"extra_fields": ["provider.options.a"]}, "extra_fields[0]: provider.options.a is forbidden"),
        ({"extra_fields": ["quality", "n"]}, "extra_fields[1]: n passes without"),
        ({"extra_fields": ["seed"]}, "extra_fields[0]: seed passes without"),
        ({"extra_fields": ["mode"]}, "extra_fields[0]: mode is forbidden"),
        ({"extra_fields": ["N"]}, "extra_fields[0]: is another spelling of n"),
        ({"extra_fields": ["svg.Model"]}, "extra_fields[0]: is another spelling of svg.model"),
        ({"extra_fields": ["Config.image.size"]}, "extra_fields[0]: is another spelling of config.image.size"),
        ({"extra_fields": ["Config"]}, "extra_fields[0]: is another spelling of config."),
        ({"extra_fields": ["a b"]}, "extra_fields[0]: must be a path"),
        ({"fixed": {"n": 1}}, "fixed.n: is set by the adapter"),
        ({"fixed": {"model": "x"}}, "fixed.model: is forbidden"),
        ({"fixed": {"svg": {"model": "x"}}}, "fixed.svg.model: is forbidden"),
        ({"fixed": {"mode": "many"}}, "fixed.mode: is forbidden"),
        ({"fixed": {"prompt": "x"}}, "fixed.prompt: is set by the adapter"),
        ({"fixed": {"image": {"people": "none"}}}, "fixed.config.image.people: is set by the adapter"),
        ({"fixed": {"config": {"image": {"size": "4K"}}}}, "fixed.config.image.size: is set by the adapter"),
        ({"fixed": {"config": 1}}, "fixed.config: is set by the adapter"),
        ({"fixed": {"config": {"unheard_of": 1}}}, "fixed.config.unheard_of: is no setting"),
        ({"fixed": {"quality": None}}, "fixed.quality: must not be null"),
        ({"fixed": {"svg": "x"}}, "fixed.svg: changes what is billed"),
        ({"fixed": {"N": 1}}, "fixed.N: is another spelling of n"),
        ({"fixed": {"svg.effort": 1}}, "fixed.svg.effort: a field inside another"),
    ],
)
def test_a_bad_value_of_a_channel_model_is_named(more: dict[str, Any], start: str) -> None:
    (complaint,) = complaints(**more)
    assert complaint.startswith(start)


def test_good_values_of_a_channel_model_pass() -> None:
    assert complaints(extra_fields=["quality", "format", "svg", "config.thinking", "metadata", "tools[].type"]) == []
    fixed = {"quality": "medium", "seed": 7, "format": "gif", "unheard_of": [1], "svg": {"effort": "low"}}
    assert complaints(fixed={**fixed, "config": {"thinking": 0}}) == []
    assert complaints(Untold(), extra_fields=["any.thing"], fixed={"any": 1}) == []


@pytest.mark.parametrize("prompt", ["", " ", 7, ["a fox"], None, "x" * 32_001])
def test_a_prompt_of_extra_body_is_checked_as_a_prompt(prompt: object) -> None:
    assert refused({"prompt": prompt}) == ["params.extra_body.prompt"]


def test_a_prompt_of_extra_body_obeys_the_limit_of_the_channel_model() -> None:
    assert refused({"prompt": "an owl"}) == []
    assert refused({"prompt": "an owl"}, capabilities={"prompt_max": 5}) == ["params.extra_body.prompt"]


def test_commands_are_searched_for_in_the_prompt_that_goes_out() -> None:
    def fields_of(**request: Any) -> list[str]:
        return [problem.field for problem in expression.check(ADAPTER, image_request(**request), image_target())]

    assert fields_of(prompt="a fox --dur 10") == ["params.prompt"]
    assert fields_of(extra_body={"prompt": "a fox --dur 10"}) == ["params.extra_body.prompt"]
    assert fields_of(prompt="a fox --dur 10", extra_body={"prompt": "an owl"}) == []


class Endless(dict[str, Any]):
    """An object of fields without an end."""

    def items(self) -> Any:
        return ((f"field{n}", n) for n in itertools.count())


def test_no_more_fields_are_looked_at_than_a_refusal_names() -> None:
    request = image_request(extra_body=Endless(first=0))
    assert len(fields.problems(ADAPTER, request, image_target())) == fields.MOST_NAMED


def test_a_path_longer_than_any_listed_one_is_covered_by_what_is_above() -> None:
    assert refused({f"quality{'[a]' * 60}": 1}, extra_fields=["quality"]) == []
    assert refused({f"svg[model]{'[a]' * 60}": 1}, extra_fields=["svg"]) != []


def test_a_refusal_names_no_more_fields_than_people_read() -> None:
    assert len(refused({f"field{n}": n for n in range(1000)})) == fields.MOST_NAMED


SAME: list[tuple[Any, Any]] = [("a", "a"), (None, None), ({"a": 1, "b": ["c"]}, {"b": ["c"], "a": 1})]
DIFFERENT: list[tuple[Any, Any]] = [("a", "b"), ("1", 1), (1, True), (1, 1.0), ("a", ["a"]), (0.0, -0.0), ("", None)]


def test_only_the_same_json_is_the_same() -> None:
    assert all(is_same(one, other) and is_same(other, one) for one, other in SAME)
    assert not any(is_same(one, other) or is_same(other, one) for one, other in DIFFERENT)
