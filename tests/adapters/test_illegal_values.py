"""A value that decides about count or size, and is none of its upstream field, is told apart from one that a route
cannot express."""

from typing import Any

import pytest

from adapters import expression, registry
from adapters.base import Target, Unsupported
from adapters.kit.replaced_inputs import InputRules
from tests.adapters.illegal_values import PROTOCOLS, Protocol, nested
from tests.adapters.making import image_request

OFFERED = InputRules(offered={"image_size": ["1K", "2K", "poster"], "aspect_ratio": ["1:1", "square"]})
# What the fields may have, with and without a tier for it.
MAY_BE: list[tuple[str, str, list[Any]]] = [
    ("openai", "size", ["auto", "1024x1024", "99999x99999"]),
    ("xai", "resolution", ["1k", "2k"]),
    ("xai", "aspect_ratio", ["auto", "19.5:9"]),
    ("ark", "size", ["3K", "adaptive", "1024x1024"]),
    ("gemini", "imageConfig.imageSize", ["512", "4K"]),
    ("gemini", "imageConfig.aspectRatio", ["8:1"]),
    ("dashscope", "parameters.size", ["4K", "1024*1024", "9999*9999"]),
    ("openrouter", "size", ["512", "768", "1024x1024"]),
    ("openrouter", "aspect_ratio", ["auto", "2.35:1"]),
    ("fal", "image_size", [{"width": 512, "height": 9999}]),
    ("words", "size", ["512x512"]),
    ("words", "tier", ["2K", "0.5K", "8K", "poster"]),
    ("words", "shape", ["21:9", "square"]),
    ("words", "opts.pixels", [["512x512"]]),
    ("mixed", "size", ["512*512"]),
    ("mapped", "dims", ["square", 2048]),
]


def found(protocol: Protocol, path: str, value: Any, rules: InputRules = OFFERED) -> list[Unsupported]:
    target = Target(
        adapter=protocol.adapter,
        base_url="https://x.example.com",
        upstream_model="qwen-image-3",
        capabilities=protocol.capabilities,
        options=protocol.options,
    )
    adapter = registry.ADAPTERS[protocol.adapter]
    return expression.check(adapter, image_request(extra_body=nested(path, value)), target, rules)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_value_that_is_none_of_its_field_is_illegal(name: str) -> None:
    protocol = PROTOCOLS[name]
    for path, values in protocol.never.items():
        for value in values:
            illegal = [each.field for each in found(protocol, path, value) if each.is_illegal]
            assert any(field.startswith(f"params.extra_body.{path}") for field in illegal), (path, value)


@pytest.mark.parametrize(("name", "path", "values"), MAY_BE)
def test_a_legal_value_passes_whether_or_not_it_has_a_tier(name: str, path: str, values: list[Any]) -> None:
    for value in values:
        assert found(PROTOCOLS[name], path, value) == [], value


def test_what_the_model_offers_is_not_asked_again_when_a_task_runs() -> None:
    assert found(PROTOCOLS["words"], "tier", "banner", InputRules()) == []
    assert [each.field for each in found(PROTOCOLS["words"], "tier", "banner")] == ["params.extra_body.tier"]


@pytest.mark.parametrize(("name", "path"), [("ark", "watermark"), ("dashscope", "parameters.prompt_extend")])
def test_a_setting_of_another_type_rules_the_route_out(name: str, path: str) -> None:
    for value in (1, "true", []):
        (problem,) = found(PROTOCOLS[name], path, value)
        assert problem == Unsupported(field=f"params.extra_body.{path}", reason="must be a boolean"), value
    assert found(PROTOCOLS[name], path, True) == []
