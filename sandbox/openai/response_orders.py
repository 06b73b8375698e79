"""Reads a call of `responses`: returns an order, or refuses the body with a 400."""

import json
from collections.abc import Mapping
from typing import Any

from sandbox.openai.errors import invalid
from sandbox.openai.orders import json_fields
from sandbox.openai.text_errors import check_fields, list_of, whole_number
from sandbox.text.orders import Said, TextOrder, Tool, chosen
from sandbox.wire import Request

ROLES = ("developer", "system", "user", "assistant")
TEXTS, FILES = ("input_text", "output_text"), ("input_image", "input_file", "input_audio")
SILENT = (
    *("function_call", "custom_tool_call", "reasoning", "item_reference", "additional_tools", "tool_search_call"),
    *("local_shell_call", "shell_call", "apply_patch_call", "computer_call", "compaction"),
)
RESULTS = (
    *("function_call_output", "custom_tool_call_output", "tool_search_output", "local_shell_call_output"),
    *("shell_call_output", "apply_patch_call_output", "computer_call_output"),
)
KNOWN = (
    *("access_programs", "background", "background_options", "context_management", "conversation", "include", "input"),
    *("instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation", "parallel_tool_calls"),
    *("previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
    *("reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options", "temperature", "text"),
    *("tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user", "image"),
    "client_metadata",  # sent by Codex
)


def response_order(request: Request) -> TextOrder:
    """Returns the request's order. Raises Refusal."""
    fields = json_fields(request)
    check_fields(fields, KNOWN)
    asked = fields.get("input")
    if not asked:
        raise invalid("input", "Missing required parameter: 'input'.", "missing_required_parameter")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else list_of(fields, "input")
    instructions = fields.get("instructions")
    choice = fields.get("tool_choice")
    return TextOrder(
        model=fields["model"],
        said=[
            Said(text=instructions if isinstance(instructions, str) else ""),
            *(said_in(item, f"input[{index}]") for index, item in enumerate(items)),
        ],
        limit=whole_number(fields, "max_output_tokens"),
        is_stream=bool(fields.get("stream")),
        tool=None if choice == "none" else tool_of(fields, choice),
        is_forced=choice == "required" or (isinstance(choice, dict) and choice.get("type") == "function"),
    )


def said_in(item: Mapping[str, Any], place: str) -> Said:
    """Reads one input item. Raises Refusal."""
    kind = item.get("type", "message")
    if kind in SILENT:
        return Said(text="")
    if kind in RESULTS:
        output = item.get("output")
        text = output if isinstance(output, str) else json.dumps(output)
        return Said(text=text, is_asking=True, is_result=True)
    if kind != "message":
        raise invalid(f"{place}.type", f"Invalid value: '{kind}'.")
    if (role := item.get("role")) not in ROLES:
        raise invalid(f"{place}.role", f"Invalid value: '{role}'. Supported values are: {', '.join(ROLES)}.")
    text, files = content_of(item.get("content"), f"{place}.content")
    return Said(text=text, files=files, is_asking=role == "user")


def content_of(content: Any, place: str) -> tuple[str, int]:
    """Returns a message's text and its number of files. Raises Refusal."""
    if isinstance(content, str):
        return content, 0
    texts, files = [], 0
    for index, part in enumerate(list_of({place: content}, place)):
        kind = part.get("type")
        if kind in TEXTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif kind in FILES:
            files += 1
        else:
            raise invalid(f"{place}[{index}].type", f"Invalid value: '{kind}'.")
    return "\n".join(texts), files


def tool_of(fields: Mapping[str, Any], choice: Any) -> Tool | None:
    """Returns the function that may be called. Raises Refusal."""
    tools = []
    for index, tool in enumerate(list_of(fields, "tools")):
        if tool.get("type") == "function" and not isinstance(tool.get("name"), str):
            param = f"tools[{index}].name"
            raise invalid(param, f"Missing required parameter: '{param}'.", "missing_required_parameter")
        if tool.get("type") == "function":
            tools.append(Tool(name=tool["name"], schema=tool.get("parameters") or {}))
    return chosen(tools, choice.get("name") if isinstance(choice, dict) else None)
