"""What a model answers to a coding agent, in three protocols: a call of its shell, or a text once the shell has run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

CALL = "call_1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """`command` is for the agent's shell, `words` are for whoever asked the agent."""

    model: str
    command: str
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """The answer, whole and as the events of a stream."""

    whole: dict[str, Any]
    events: list[dict[str, Any]]


def of_messages(document: Mapping[str, Any], turn: Turn) -> Turned:
    """Anthropic's. 10 tokens from the cache, 20 into it, 70 beside it; 30 out."""
    usage = {"input_tokens": 70, "cache_read_input_tokens": 10, "cache_creation_input_tokens": 20}
    tools = [tool["name"] for tool in document.get("tools", ())]
    has_run = '"tool_result"' in str(document["messages"]).replace("'", '"')
    if "Bash" in tools and not has_run:
        arguments = {"command": turn.command, "description": "Runs the command"}
        block, reason = {"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": arguments}, "tool_use"
    else:
        block, reason = {"type": "text", "text": turn.words}, "end_turn"
    whole = {"id": "msg_1", "type": "message", "role": "assistant", "model": turn.model, "content": [block]}
    whole |= {"stop_reason": reason, "stop_sequence": None, "usage": {**usage, "output_tokens": 30}}
    return Turned(whole=whole, events=list(_message_events(whole, block)))


def _message_events(whole: Mapping[str, Any], block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "content": [], "stop_reason": None, "usage": {**whole["usage"], "output_tokens": 1}}
    yield {"type": "message_start", "message": begun}
    if block["type"] == "text":
        yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        yield {"type": "content_block_start", "index": 0, "content_block": {**block, "input": {}}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    end = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": 30}}
    yield {"type": "message_stop"}


def of_responses(document: Mapping[str, Any], turn: Turn) -> Turned:
    """OpenAI's. 100 tokens in, 10 of them from the cache; 30 out, 5 of them thoughts."""
    usage = {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 10}, "output_tokens": 30}
    usage |= {"output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 130}
    has_run = any(str(item.get("type")).endswith("_output") for item in document["input"] if isinstance(item, dict))
    call = None if has_run else next(_shell_calls(document, turn.command), None)
    text = {"type": "output_text", "text": turn.words, "annotations": []}
    said = {"type": "message", "role": "assistant", "status": "completed", "content": [text]}
    item = {"id": "item_1", **(call or said)}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": turn.model}
    whole |= {"output": [item], "usage": usage, "error": None, "incomplete_details": None}
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    events = [
        {"type": "response.created", "response": begun, "sequence_number": 0},
        {"type": "response.output_item.added", "output_index": 0, "item": item, "sequence_number": 1},
        {"type": "response.output_item.done", "output_index": 0, "item": item, "sequence_number": 2},
        {"type": "response.completed", "response": whole, "sequence_number": 3},
    ]
    return Turned(whole=whole, events=events)


def _shell_calls(document: Mapping[str, Any], command: str) -> Iterator[dict[str, Any]]:
    """A call for each tool of a shell that is offered, in whatever place."""
    added = [item for item in document["input"] if isinstance(item, dict) and item.get("type") == "additional_tools"]
    offered = [*document.get("tools", ()), *(tool for item in added for tool in item["tools"])]
    spaces = [(tool["name"], inner) for tool in offered if tool["type"] == "namespace" for inner in tool["tools"]]
    for space, tool in [*((None, tool) for tool in offered), *spaces]:
        within = {} if space is None else {"namespace": space}
        name = tool.get("name")
        if tool["type"] == "custom" and name == "exec":
            source = f"text((await tools.exec_command({json.dumps({'cmd': command})})).output)"
            yield {"type": "custom_tool_call", "call_id": CALL, "name": name, **within, "input": source}
        arguments = {"exec_command": {"cmd": command}, "shell_command": {"command": command}}
        if tool["type"] == "function" and name in arguments:
            asked = json.dumps(arguments[name])
            yield {"type": "function_call", "call_id": CALL, "name": name, **within, "arguments": asked}


def of_generate_content(document: Mapping[str, Any], turn: Turn) -> Turned:
    """Google's. 100 tokens in, 10 of them from the cache; 30 out, 5 of them thoughts."""
    usage = {"promptTokenCount": 100, "cachedContentTokenCount": 10, "candidatesTokenCount": 25}
    usage |= {"thoughtsTokenCount": 5, "totalTokenCount": 130}
    declared = [one["name"] for tool in document.get("tools", ()) for one in tool.get("functionDeclarations", ())]
    has_run = "functionResponse" in str(document["contents"])
    if "run_shell_command" in declared and not has_run:
        arguments = {"command": turn.command, "description": "Runs the command"}
        part: dict[str, Any] = {"functionCall": {"name": "run_shell_command", "args": arguments}}
    else:
        part = {"text": turn.words}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": turn.model, "responseId": "r1"}
    return Turned(whole=whole, events=[whole])
