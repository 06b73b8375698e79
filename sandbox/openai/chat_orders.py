"""Reads a call of `chat/completions`: returns an order, or refuses the body with a 400."""

from collections.abc import Mapping
from typing import Any

from sandbox.openai.errors import invalid
from sandbox.openai.orders import json_fields
from sandbox.openai.text_errors import check_fields, list_of, whole_number
from sandbox.text.orders import Said, TextOrder, Tool, chosen
from sandbox.wire import Request

MOST_CHOICES = 128
ROLES = ("developer", "system", "user", "assistant", "tool", "function")
TEXTS, FILES = ("text", "refusal"), ("image_url", "input_audio", "file")
KNOWN = (
    *("audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens"),
    *("max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls"),
    *("prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
    *("reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop", "store", "stream"),
    *("stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity"),
    "web_search_options",
)


def chat_order(request: Request) -> TextOrder:
    """Returns the request's order. Raises Refusal."""
    fields = json_fields(request)
    check_fields(fields, KNOWN)
    messages = list_of(fields, "messages")
    if not messages:
        raise invalid("messages", "Missing required parameter: 'messages'.", "missing_required_parameter")
    limits = (whole_number(fields, "max_completion_tokens"), whole_number(fields, "max_tokens"))
    options = fields.get("stream_options")
    return TextOrder(
        model=fields["model"],
        said=[said_in(message, f"messages[{index}]") for index, message in enumerate(messages)],
        limit=next((limit for limit in limits if limit is not None), None),
        choices=whole_number(fields, "n", high=MOST_CHOICES) or 1,
        is_stream=bool(fields.get("stream")),
        shows_usage=isinstance(options, dict) and bool(options.get("include_usage")),
        tool=tool_of(fields),
        is_forced=fields.get("tool_choice") == "required" or isinstance(fields.get("tool_choice"), dict),
    )


def said_in(message: Mapping[str, Any], place: str) -> Said:
    """Reads one message. Raises Refusal."""
    role = message.get("role")
    if role not in ROLES:
        raise invalid(f"{place}.role", f"Invalid value: '{role}'. Supported values are: {', '.join(ROLES)}.")
    text, files = content_of(message.get("content"), f"{place}.content")
    return Said(
        text=text, files=files, is_asking=role in ("user", "tool", "function"), is_result=role in ("tool", "function")
    )


def content_of(content: Any, place: str) -> tuple[str, int]:
    """Returns a message's text and its number of files. Raises Refusal."""
    if content is None or isinstance(content, str):
        return content or "", 0
    texts, files = [], 0
    for index, part in enumerate(list_of({place: content}, place)):
        kind = part.get("type")
        if kind in TEXTS and isinstance(part.get(kind), str):
            texts.append(part[kind])
        elif kind in FILES and isinstance(part.get(kind), dict):
            files += 1
        else:
            raise invalid(f"{place}[{index}].type", f"Invalid value: '{kind}'.")
    return "\n".join(texts), files


def tool_of(fields: Mapping[str, Any]) -> Tool | None:
    """Returns the function that may be called. Raises Refusal."""
    choice = fields.get("tool_choice")
    if choice == "none":
        return None
    tools = []
    for index, tool in enumerate(list_of(fields, "tools")):
        function = tool.get("function")
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            param = f"tools[{index}].function.name"
            raise invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")
        tools.append(Tool(name=function["name"], schema=function.get("parameters") or {}))
    named = choice.get("function") if isinstance(choice, dict) else None
    return chosen(tools, named.get("name") if isinstance(named, dict) else None)
