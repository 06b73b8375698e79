"""Whole messages in `extra_body` are checked as prompt and images are, or rule the route out."""

import base64
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from adapters import expression, registry
from adapters.base import Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.gemini import contents
from adapters.kit import prompt_commands
from adapters.kit.replaced_inputs import InputRules
from adapters.kit.upstream_fields import UpstreamField, neutral
from tests.adapters.making import PNG, image_request, image_target

DATA = base64.b64encode(PNG).decode()
WEBP = base64.b64encode(b"RIFF\0\0\0\0WEBP").decode()
GIF = base64.b64encode(b"GIF89a").decode()
GEMINI = replace(image_target(), adapter="gemini_generate_content")
DASHSCOPE = replace(image_target(), adapter="dashscope_image", upstream_model="qwen-image-3")
TEXT = {"text": "an owl"}
LINK = "https://x.example.com/a.png"


def inline(data: str = DATA, kind: str = "image/png") -> dict[str, Any]:
    return {"inlineData": {"mimeType": kind, "data": data}}


def image(data: str = DATA, kind: str = "image/png") -> dict[str, Any]:
    return {"image": f"data:{kind};base64,{data}"}


def turn(*parts: Any, **more: Any) -> dict[str, Any]:
    return {"contents": [{"role": "user", "parts": list(parts), **more}]}


def told(*content: Any, **more: Any) -> dict[str, Any]:
    return {"input": {"messages": [{"role": "user", "content": list(content), **more}]}}


def problems(target: Target, extra_body: dict[str, Any], **rules: Any) -> list[Unsupported]:
    adapter = registry.ADAPTERS[target.adapter]
    return expression.check(adapter, image_request(extra_body=extra_body), target, InputRules(**rules))


def refused(target: Target, extra_body: dict[str, Any], **rules: Any) -> list[str]:
    return [problem.field.removeprefix("params.extra_body.") for problem in problems(target, extra_body, **rules)]


@pytest.mark.parametrize(
    ("target", "extra_body"),
    [
        (GEMINI, turn(TEXT)),
        (GEMINI, turn(inline(), TEXT, inline(WEBP, "image/webp"))),
        (GEMINI, {"contents": [{"parts": [TEXT]}, {"role": "model", "parts": [inline()]}, {"parts": [{"text": ""}]}]}),
        (GEMINI, turn({"text": "x" * 32_000})),
        (DASHSCOPE, told(TEXT)),
        (DASHSCOPE, told(image(), image(WEBP, "image/webp"), TEXT)),
        (DASHSCOPE, {"input": {"messages": told(image())["input"]["messages"] + told(TEXT)["input"]["messages"]}}),
    ],
)
def test_texts_and_inline_pictures_pass(target: Target, extra_body: dict[str, Any]) -> None:
    assert refused(target, extra_body) == []


@pytest.mark.parametrize(
    ("target", "extra_body", "field"),
    [
        *((GEMINI, {"contents": odd}, "contents") for odd in ("an owl", [], {}, 7, {"parts": [TEXT]})),
        (GEMINI, {"contents": [TEXT["text"]]}, "contents[0]"),
        (GEMINI, {"contents": [TEXT]}, "contents[0].text"),
        (GEMINI, {"contents": [{"role": "user"}]}, "contents[0].parts"),
        (GEMINI, {"contents": [{"role": "user", "parts": {"text": "an owl"}}]}, "contents[0].parts"),
        (GEMINI, turn(TEXT, name="x"), "contents[0].name"),
        *(
            (GEMINI, turn(TEXT) | {"contents": [{"role": odd, "parts": [TEXT]}]}, "contents[0].role")
            for odd in ("", [])
        ),
        (GEMINI, turn(TEXT, "an owl"), "contents[0].parts[1]"),
        (GEMINI, turn(TEXT, {}), "contents[0].parts[1]"),
        (GEMINI, turn(TEXT | inline()), "contents[0].parts[0]"),
        (GEMINI, turn({"text": ["an owl"]}), "contents[0].parts[0].text"),
        (GEMINI, turn(TEXT, {"fileData": {"fileUri": LINK, "mimeType": "image/png"}}), "contents[0].parts[1].fileData"),
        (GEMINI, turn(TEXT | {"thought": True}), "contents[0].parts[0].thought"),
        (GEMINI, turn(TEXT, {"functionCall": {"name": "f"}}), "contents[0].parts[1].functionCall"),
        (GEMINI, turn(TEXT, {"inline_data": inline()["inlineData"]}), "contents[0].parts[1].inline_data"),
        (GEMINI, turn(TEXT, {"inlineData": DATA}), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, {"inlineData": {"data": DATA}}), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline() | {"x": 1}), "contents[0].parts[1].x"),
        (GEMINI, turn(TEXT, inline("!")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(LINK)), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline("")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(DATA[:-1])), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(kind="image/jpeg")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(GIF, "image/gif")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(kind="application/pdf")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn(TEXT, inline(kind=f"image/png;base64,{DATA}")), "contents[0].parts[1].inlineData"),
        (GEMINI, turn({"text": " \n"}, inline()), "contents"),
        (GEMINI, turn(inline()), "contents"),
        (GEMINI, turn({"text": "x" * 16_000}, {"text": "x" * 16_001}), "contents"),
        (GEMINI, {"Contents": turn(TEXT)["contents"]}, "Contents"),
        *((DASHSCOPE, {"input": odd}, "input") for odd in ("an owl", [], 7, [{"messages": []}])),
        (DASHSCOPE, {"input": {}}, "input.messages"),
        (DASHSCOPE, {"input": {"prompt": "an owl"}}, "input.prompt"),
        (DASHSCOPE, {"input": told(TEXT)["input"] | {"function": "edit"}}, "input.function"),
        (DASHSCOPE, {"input": {"messages": [{"content": [TEXT]}]}}, "input.messages[0].role"),
        (DASHSCOPE, told(TEXT) | {"input": {"messages": [{"role": "system"}]}}, "input.messages[0].role"),
        (DASHSCOPE, {"input": {"messages": [{"role": "user", "content": "an owl"}]}}, "input.messages[0].content"),
        (DASHSCOPE, told(TEXT, cache_control={}), "input.messages[0].cache_control"),
        (DASHSCOPE, told(TEXT, {"image": LINK}), "input.messages[0].content[1].image"),
        (DASHSCOPE, told(TEXT, {"image": "oss://bucket/a.png"}), "input.messages[0].content[1].image"),
        (DASHSCOPE, told(TEXT, {"image": [image()["image"]]}), "input.messages[0].content[1].image"),
        (DASHSCOPE, told(TEXT, {"video": LINK}), "input.messages[0].content[1].video"),
        (DASHSCOPE, told(TEXT, image(GIF, "image/gif")), "input.messages[0].content[1].image"),
        (DASHSCOPE, told(TEXT, image("AAAA")), "input.messages[0].content[1].image"),
        (DASHSCOPE, told(TEXT, *[image()] * 11), "input"),
        (DASHSCOPE, told({"text": ""}), "input"),
        (DASHSCOPE, told({"text": "x" * 32_001}), "input"),
    ],
)
def test_everything_else_rules_the_route_out_and_is_named(
    target: Target, extra_body: dict[str, Any], field: str
) -> None:
    assert refused(target, extra_body) == [field]


def test_the_refusal_says_what_would_pass() -> None:
    (problem,) = problems(GEMINI, turn(TEXT, {"fileData": {"fileUri": LINK}}))
    assert problem.reason == "is not taken here, only text and inlineData"
    (problem,) = problems(GEMINI, turn(inline()))
    assert problem.reason == "must hold a text that is not blank"


@pytest.mark.parametrize(
    ("target", "extra_body", "field"),
    [(GEMINI, turn(TEXT, inline(), inline()), "contents"), (DASHSCOPE, told(TEXT, image(), image()), "input")],
)
def test_the_limits_of_model_and_channel_model_hold(target: Target, extra_body: dict[str, Any], field: str) -> None:
    assert refused(target, extra_body, most_images=2) == []
    assert refused(target, extra_body, most_images=1) == [field]
    assert refused(replace(target, capabilities={"max_images": 1}), extra_body) == [field]
    # The portable prompt is not sent, and has as many characters less one.
    assert refused(replace(target, capabilities={"prompt_max": 5}), extra_body) == [field]
    assert len(refused(replace(target, capabilities={"data_url": False}), extra_body)) == 2


class Obeying:
    """An adapter whose model obeys commands in its messages."""

    protocol = "obeying"

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return neutral("x", "contents", derived=True, replaces="messages", parts=contents.parts, most=1)

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        return prompt_commands.seedance(prompt)

    def check(self, request: TaskRequest, target: Target) -> Iterator[Unsupported]:
        return iter(())

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        raise NotImplementedError


@pytest.mark.parametrize("texts", [["an owl --dur 10"], ["an owl", "--rs 720p"], ["an owl -", "-dur 10"]])
def test_commands_are_found_in_all_texts_of_messages(texts: list[str]) -> None:
    adapter: Any = Obeying()
    request = image_request(extra_body=turn(*({"text": text} for text in texts)))
    (problem,) = expression.check(adapter, request, image_target())
    assert problem.field == "params.extra_body.contents"
    assert "as a command" in problem.reason


def test_the_prompt_that_messages_replace_is_not_searched_for_commands() -> None:
    adapter: Any = Obeying()
    request = image_request(prompt="a fox --dur 10", extra_body=turn(TEXT))
    assert expression.check(adapter, request, image_target()) == []
