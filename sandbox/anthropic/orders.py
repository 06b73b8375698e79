"""Reads a call of `messages` or `messages/count_tokens`: returns an order, or refuses the body with a 400."""

from collections.abc import Mapping
from typing import Any

from sandbox.anthropic.errors import error, fields_of, invalid
from sandbox.text.orders import Said, TextOrder, Tool, chosen
from sandbox.wire import Refusal, Request

SAMPLING = ("temperature", "top_p", "top_k")
NO_SAMPLING = "2026-10-21"
COUNTED = (
    *("cache_control", "context_management", "mcp_servers", "messages", "model", "output_config", "speed", "system"),
    *("thinking", "tool_choice", "tools"),
)
KNOWN = (
    *(*COUNTED, "max_tokens", "container", "diagnostics", "inference_geo", "metadata", "service_tier"),
    *("stop_sequences", "stream", *SAMPLING),
)
FILES = ("image", "document")
SILENT = ("tool_use", "thinking", "redacted_thinking")


def message_order(request: Request, *, is_count: bool) -> TextOrder:
    """Returns the request's order; a token count has no limit. Raises Refusal."""
    fields = fields_of(request)
    check_fields(fields, request.headers["anthropic-version"], is_count=is_count)
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages: at least one message is required")
    choice = fields.get("tool_choice")
    named = choice if isinstance(choice, dict) else {}
    return TextOrder(
        model=fields["model"],
        said=[
            Said(text=content_of(fields.get("system") or "", "system")[0]),
            *(said_in(message, f"messages.{index}") for index, message in enumerate(messages)),
        ],
        limit=None if is_count else fields["max_tokens"],
        is_stream=bool(fields.get("stream")),
        tool=None if named.get("type") == "none" else tool_of(fields, named.get("name")),
        is_forced=named.get("type") in ("any", "tool"),
    )


def check_fields(fields: Mapping[str, Any], version: str, *, is_count: bool) -> None:
    """Checks that this version knows every field and that none is missing. Raises Refusal."""
    for name in fields:
        if name not in (COUNTED if is_count else KNOWN):
            raise invalid(f"{name}: Extra inputs are not permitted")
        if name in SAMPLING and version == NO_SAMPLING:
            raise invalid(f"{name}: is not supported in version {version}")
    model, limit = fields.get("model"), fields.get("max_tokens")
    if not isinstance(model, str) or not model:
        raise invalid("model: Field required")
    if model == "no-such-model":
        raise Refusal(error(404, f"model: {model}"))
    if is_count:
        return
    if limit is None:
        raise invalid("max_tokens: Field required")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise invalid("max_tokens: Input should be greater than or equal to 1")
    temperature = fields.get("temperature", 1)
    if isinstance(temperature, bool) or not isinstance(temperature, int | float) or not 0 <= temperature <= 1:
        raise invalid("temperature: range: 0..1")
    if not isinstance(fields.get("stream", False), bool):
        raise invalid("stream: Input should be a valid boolean")


def said_in(message: Any, place: str) -> Said:
    """Reads one message. Raises Refusal."""
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ("user", "assistant", "system"):
        raise invalid(f"{place}.role: Input should be 'user' or 'assistant'")
    text, files, is_result = content_of(message.get("content"), f"{place}.content")
    return Said(text=text, files=files, is_asking=role == "user", is_result=is_result)


def content_of(content: Any, place: str) -> tuple[str, int, bool]:
    """Returns a message's text, its number of files, and whether it has a tool result. Raises Refusal."""
    if isinstance(content, str):
        return content, 0, False
    if not isinstance(content, list):
        raise invalid(f"{place}: Input should be a valid list")
    texts, files, is_result = [], 0, False
    for index, block in enumerate(content):
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif kind == "tool_result":
            text, more, _ = content_of(block.get("content") or "", f"{place}.{index}.content")
            texts, files, is_result = [*texts, text], files + more, True
        elif kind in FILES:
            files += 1
        elif kind not in SILENT:
            raise invalid(f"{place}.{index}: Input tag '{kind}' found using 'type' does not match any of the tags")
    return "\n".join(texts), files, is_result


def tool_of(fields: Mapping[str, Any], name: str | None) -> Tool | None:
    """Returns the tool that may be called. Raises Refusal."""
    tools = fields.get("tools") or []
    if not isinstance(tools, list):
        raise invalid("tools: Input should be a valid list")
    for index, one in enumerate(tools):
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise invalid(f"tools.{index}.name: Field required")
    return chosen([Tool(name=one["name"], schema=one.get("input_schema") or {}) for one in tools], name)
