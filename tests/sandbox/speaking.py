"""Callers of the sandbox's text, which say the same in each protocol."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import requests

from sandbox.server import Sandbox
from tools.children import PATIENCE

LOOK = {"type": "object", "properties": {"where": {"type": "string"}, "often": {"type": "integer"}}}


@dataclass(frozen=True, kw_only=True)
class Speaker:
    """One protocol: where it is asked, with what, and where its answers have what all of them have."""

    path: str
    stream_path: str = ""
    key: Callable[[str], Mapping[str, str]]
    body: Callable[[str], dict[str, Any]]
    options: Callable[[int], dict[str, Any]]
    """A limit of output tokens."""
    tools: Mapping[str, Any]
    told: Callable[[Any], tuple[Any, ...]]
    """Of a whole answer: its text or the call of a tool, why it ended, and input, cached and output tokens."""
    said: Callable[[Any], str]
    """The text in the JSON of a frame."""

    def ask(self, sandbox: Sandbox, prompt: str, *, is_stream: bool = False, **fields: Any) -> requests.Response:
        body = self.body(prompt) | ({"stream": True} if is_stream and not self.stream_path else {}) | fields
        path = self.stream_path if is_stream and self.stream_path else self.path
        return self.post(sandbox, body, path=path, stream=is_stream)

    def post(
        self, sandbox: Sandbox, body: Any, *, path: str = "", key: str = "any", **options: Any
    ) -> requests.Response:
        headers = {name: value for name, value in self.key(key).items() if value}
        return requests.post(sandbox.url + (path or self.path), json=body, headers=headers, timeout=PATIENCE, **options)

    def frames(self, content: bytes) -> list[Any]:
        """The JSON of each event of a stream."""
        lines = [line.removeprefix("data: ") for line in content.decode().splitlines() if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def chat_told(answer: Any) -> tuple[Any, ...]:
    choice, usage = answer["choices"][-1], answer["usage"]
    calls = choice["message"].get("tool_calls")
    text = (calls[0]["function"]["name"], json.loads(calls[0]["function"]["arguments"])) if calls else None
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return (
        *(text or choice["message"]["content"], choice["finish_reason"]),
        *(usage["prompt_tokens"], cached, usage["completion_tokens"]),
    )


def response_told(answer: Any) -> tuple[Any, ...]:
    item, usage = answer["output"][-1], answer["usage"]
    is_call = item["type"] == "function_call"
    text = (item["name"], json.loads(item["arguments"])) if is_call else item["content"][0]["text"]
    reason = answer["incomplete_details"]["reason"] if answer["incomplete_details"] else item["type"]
    return text, reason, usage["input_tokens"], usage["input_tokens_details"]["cached_tokens"], usage["output_tokens"]


def message_told(answer: Any) -> tuple[Any, ...]:
    block, usage = answer["content"][-1], answer["usage"]
    text = block["text"] if block["type"] == "text" else (block["name"], block["input"])
    counts = usage["input_tokens"], usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
    return text, answer["stop_reason"], sum(counts), usage["cache_read_input_tokens"], usage["output_tokens"]


def gemini_told(answer: Any) -> tuple[Any, ...]:
    candidate, usage = answer["candidates"][-1], answer["usageMetadata"]
    part = candidate["content"]["parts"][-1]
    text = (part["functionCall"]["name"], part["functionCall"]["args"]) if "functionCall" in part else part["text"]
    output = usage["candidatesTokenCount"] + usage.get("thoughtsTokenCount", 0)
    return text, candidate["finishReason"], usage["promptTokenCount"], usage.get("cachedContentTokenCount", 0), output


def chat_said(frame: Any) -> str:
    return "".join(one["delta"].get("content") or "" for one in frame["choices"] if one["index"] == 0)


def gemini_said(frame: Any) -> str:
    return "".join(part["text"] for part in frame["candidates"][0]["content"]["parts"] if not part.get("thought"))


def asked(prompt: str) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": prompt}]}


MODEL = "/gemini/v1beta/models/org/some:"
CHAT = Speaker(
    path="/openai/v1/chat/completions",
    key=lambda key: {"authorization": f"Bearer {key}" if key else ""},
    body=asked,
    options=lambda limit: {"max_completion_tokens": limit},
    tools={"tools": [{"type": "function", "function": {"name": "look", "parameters": LOOK}}]},
    told=chat_told,
    said=chat_said,
)
RESPONSES = Speaker(
    path="/openai/v1/responses",
    key=CHAT.key,
    body=lambda prompt: {"model": "m", "input": prompt},
    options=lambda limit: {"max_output_tokens": limit},
    tools={"tools": [{"type": "function", "name": "look", "parameters": LOOK}]},
    told=response_told,
    said=lambda frame: frame["delta"] if frame["type"] == "response.output_text.delta" else "",
)
MESSAGES = Speaker(
    path="/anthropic/v1/messages",
    key=lambda key: {"x-api-key": key, "anthropic-version": "2023-06-01"},
    body=lambda prompt: asked(prompt) | {"max_tokens": 100},
    options=lambda limit: {"max_tokens": limit},
    tools={"tools": [{"name": "look", "input_schema": LOOK}]},
    told=message_told,
    said=lambda frame: frame["delta"].get("text", "") if frame["type"] == "content_block_delta" else "",
)
GEMINI = Speaker(
    path=f"{MODEL}generateContent",
    stream_path=f"{MODEL}streamGenerateContent?alt=sse",
    key=lambda key: {"x-goog-api-key": key},
    body=lambda prompt: {"contents": [{"role": "user", "parts": [{"text": prompt}]}]},
    options=lambda limit: {"generationConfig": {"maxOutputTokens": limit}},
    tools={"tools": [{"functionDeclarations": [{"name": "look", "parameters": LOOK}]}]},
    told=gemini_told,
    said=gemini_said,
)
SPEAKERS = {"chat": CHAT, "responses": RESPONSES, "messages": MESSAGES, "gemini": GEMINI}
