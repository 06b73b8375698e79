"""Reads a call of Gemini's text models, in both spellings of its fields: returns an order, or refuses with a 400."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from sandbox.gemini.errors import error, invalid
from sandbox.gemini.orders import CONFIG, TOP, check_names, fields_of, object_of
from sandbox.text.orders import Said, TextOrder, Tool, chosen
from sandbox.wire import Refusal

MOST_CANDIDATES = 8
TEXT_CONFIG = CONFIG | {
    *("responseMimeType", "responseSchema", "responseJsonSchema", "presencePenalty", "frequencyPenalty"),
    *("responseLogprobs", "logprobs", "speechConfig", "responseFormat"),
}
FILES = ("inlineData", "fileData")
SILENT = ("functionCall", "executableCode", "codeExecutionResult")
EXTRA = ("thought", "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution")


def camel(name: str) -> str:
    """Returns a field's name as in the protocol's JSON."""
    first, *rest = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def spelt(value: Any, place: str) -> dict[str, Any]:
    """Returns an object with its fields' names in one spelling. Raises Refusal."""
    return {camel(name): content for name, content in object_of(value, place).items()}


def text_order_of(model: str, version: str, body: bytes, *, is_stream: bool) -> TextOrder:
    """Returns the body's order. Raises Refusal."""
    fields = spelt(fields_of(body), "the request")
    check_model(model, version)
    return order_in(fields, model, is_stream=is_stream)


def counted(model: str, version: str, body: bytes) -> TextOrder:
    """Returns the order whose tokens are to be counted. Raises Refusal."""
    fields = spelt(fields_of(body), "the request")
    check_model(model, version)
    if "generateContentRequest" in fields:
        fields = spelt(fields["generateContentRequest"], "generate_content_request")
        fields.pop("model", None)
    return order_in(fields, model, is_stream=False)


def check_model(model: str, version: str) -> None:
    """Accepts any model but one. Raises Refusal."""
    if model == "no-such-model":
        message = f"models/{model} is not found for API version {version}, or is not supported for generateContent."
        raise Refusal(error(404, message))


def order_in(fields: Mapping[str, Any], model: str, *, is_stream: bool) -> TextOrder:
    """Returns the order in a body. Raises Refusal."""
    check_names(fields, (*TOP, "serviceTier", "store"), "")
    contents = fields.get("contents")
    if not isinstance(contents, list) or not contents:
        raise invalid("* GenerateContentRequest.contents: contents is not specified")
    config = spelt(fields.get("generationConfig", {}), "generation_config")
    check_names(config, TEXT_CONFIG, "generation_config")
    system = fields.get("systemInstruction")
    tools, mode = functions(fields.get("tools", [])), calling(fields.get("toolConfig"))
    named = next(iter(mode.get("allowedFunctionNames", [])), None)
    return TextOrder(
        model=model,
        said=[
            *([said_in(system, "system_instruction", is_asking=False)] if system else []),
            *(said_in(one, f"contents[{index}]", is_asking=True) for index, one in enumerate(contents)),
        ],
        limit=whole_number(config, "maxOutputTokens", 1_000_000),
        choices=whole_number(config, "candidateCount", MOST_CANDIDATES) or 1,
        is_stream=is_stream,
        tool=None if mode.get("mode") == "NONE" else chosen(tools, named),
        is_forced=mode.get("mode") == "ANY",
    )


def whole_number(config: Mapping[str, Any], name: str, most: int) -> int | None:
    """Returns an integer from 1, or None if absent. Raises Refusal."""
    value = config.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise invalid(f"Invalid value at 'generation_config.{name}': {value!r}")
    return value


def said_in(content: Any, place: str, *, is_asking: bool) -> Said:
    """Reads one content, or the instruction. Raises Refusal."""
    fields = spelt(content, place)
    check_names(fields, ("role", "parts"), place)
    role = fields.get("role", "user")
    if role not in ("user", "model", "function", "system"):
        raise invalid("Please use a valid role: user, model.")
    parts = fields.get("parts")
    if not isinstance(parts, list) or not parts:
        raise invalid(f"* GenerateContentRequest.{place}.parts: must not be empty")
    found = [part_of(part, f"{place}.parts[{index}]") for index, part in enumerate(parts)]
    texts = [text for kind, text in found if kind in ("text", "functionResponse")]
    return Said(
        text="\n".join(texts),
        files=sum(kind in FILES for kind, _ in found),
        is_asking=is_asking and role != "model",
        is_result=any(kind == "functionResponse" for kind, _ in found),
    )


def part_of(part: Any, place: str) -> tuple[str, str]:
    """Returns a part's kind and its text. Raises Refusal."""
    fields = {name: value for name, value in spelt(part, place).items() if name not in EXTRA}
    if len(fields) != 1:
        raise invalid(f"{place}.data: required oneof field 'data' must have one initialized field")
    ((kind, value),) = fields.items()
    if kind == "functionResponse":
        return kind, json.dumps(object_of(value, place).get("response", {}), ensure_ascii=False)
    if kind == "text" and isinstance(value, str):
        return kind, value
    check_names(fields, (*FILES, *SILENT), place)
    return kind, ""


def functions(tools: Any) -> Sequence[Tool]:
    """Returns the functions among the tools. Raises Refusal."""
    found = []
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        for function in spelt(tool, f"tools[{index}]").get("functionDeclarations", []):
            one = spelt(function, f"tools[{index}].function_declarations")
            schema = one.get("parameters") or one.get("parametersJsonSchema") or {}
            found.append(Tool(name=str(one.get("name", "")), schema=schema))
    return found


def calling(config: Any) -> Mapping[str, Any]:
    """Returns the `functionCallingConfig`. Raises Refusal."""
    fields = spelt(config or {}, "tool_config")
    return spelt(fields.get("functionCallingConfig") or {}, "tool_config.function_calling_config")
