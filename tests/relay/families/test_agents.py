"""Coding agents work as they come: their requests, as they were recorded, pass and are understood by a provider."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import requests

from relay.families.base import Endpoint
from relay.families.registry import find_family
from sandbox.server import Sandbox
from tools.children import PATIENCE

FUNCTION = {"type": "function", "name": "exec_command", "description": "d", "strict": False, "parameters": {}}
GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: x"}
SCHEMA = {"type": "object", "properties": {"cache_control": {"ttl": "1h"}, "image_url": {"type": "string"}}}
AGENTS_SPACE = {"type": "namespace", "name": "multi_agent_v1", "description": "d", "tools": [FUNCTION]}
OF_CODEX = {
    "stream": True,
    "tool_choice": "auto",
    "parallel_tool_calls": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "prompt_cache_key": "k",
    "text": {"verbosity": "low"},
    "client_metadata": {"session_id": "s", "x-codex-window-id": "s:0", "turn_id": "t"},
}
SAID = {"type": "message", "id": "msg_1", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,QUFB"}
TURNS = [
    SAID,
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "AAAA"},
    {"type": "custom_tool_call", "id": "ctc_1", "call_id": "1", "name": "apply_patch", "input": "*** Begin Patch"},
    {"type": "custom_tool_call_output", "call_id": "1", "output": "Done"},
    {"type": "function_call", "call_id": "2", "name": "spawn_agent", "namespace": "multi_agent_v1", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "2", "output": [PICTURE]},
    {"type": "tool_search_call", "call_id": "3", "execution": "client", "arguments": {"query": "x"}},
    {"type": "tool_search_output", "call_id": "3", "execution": "client", "tools": [AGENTS_SPACE]},
]
EXEC = {"type": "custom", "name": "exec", "description": "d", "format": GRAMMAR}
SPACE = {"type": "namespace", "name": "functions", "description": "", "tools": [EXEC, FUNCTION]}
ADDED = {"type": "additional_tools", "id": "at_1", "role": "developer", "tools": [SPACE, AGENTS_SPACE]}
CACHED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}

# Path and query, betas, body.
AGENTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Codex with gpt-5.5": (
        "/v1/responses",
        "",
        {
            **OF_CODEX,
            "model": "gpt-5.5",
            "input": TURNS,
            "reasoning": {"effort": "medium", "summary": "auto"},
            "tools": [
                FUNCTION,
                {"type": "custom", "name": "apply_patch", "description": "d", "format": GRAMMAR},
                AGENTS_SPACE,
                {"type": "tool_search", "execution": "client", "description": "d", "parameters": {}},
            ],
        },
    ),
    "Codex with gpt-6.2-astra": (
        "/v1/responses",
        "",
        {
            **OF_CODEX,
            "model": "gpt-6.2-astra",
            "input": [ADDED, *TURNS],
            "reasoning": {"effort": "low", "context": "all_turns"},
        },
    ),
    "Claude Code": (
        "/v1/messages?beta=true",
        "claude-code-20250219,context-1m-2025-08-07,interleaved-thinking-2025-05-14,thinking-token-count-2026-05-13,"
        "context-management-2025-06-27,prompt-caching-scope-2026-01-05,mid-conversation-system-2026-04-07,"
        "effort-2025-11-24",
        {
            "model": "claude-opus-4-8",
            "messages": [{"role": "user", "content": [CACHED]}, {"role": "system", "content": "x"}],
            "system": [CACHED],
            "tools": [{"name": "Bash", "description": "d", "input_schema": SCHEMA}],
            "metadata": {"user_id": '{"device_id":"1"}'},
            "max_tokens": 64_000,
            "thinking": {"type": "adaptive"},
            "context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]},
            "output_config": {"effort": "high"},
            "stream": True,
        },
    ),
    "Gemini CLI": (
        "/v1beta/models/gemini-3.1-pro-preview:streamGenerateContent?alt=sse",
        "",
        {
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"file": "x"}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
            ],
            "systemInstruction": {"role": "user", "parts": [{"text": "x"}]},
            "tools": [{"functionDeclarations": [{"name": "f", "description": "d", "parametersJsonSchema": SCHEMA}]}],
            "generationConfig": {
                "temperature": 1,
                "topP": 0.95,
                "topK": 64,
                "thinkingConfig": {"includeThoughts": True, "thinkingLevel": "HIGH"},
            },
        },
    ),
}
BASES = {"openai": "/openai/v1", "anthropic": "/anthropic", "gemini": "/gemini"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.parametrize("agent", AGENTS)
def test_what_an_agent_sends_passes_and_is_sold(provider, agent):
    address, betas, body = AGENTS[agent]
    path, _, query = address.partition("?")
    family, called = find_family("POST", path)
    called = replace(called, query=query, betas=tuple(betas.split(",")) if betas else ())
    raw = json.dumps(body).encode()
    document = family.document(raw, called)
    call = family.read(document, raw, called)
    assert list(call.refused) == []
    assert (call.file_path, call.tools, call.amounts) == ("", {}, {"image_input"} if call.pictures_in else set())
    assert call.pictures_in == json.dumps(body).count("input_image")
    endpoint = Endpoint(
        platform=family.platform,
        base_url=provider.url + BASES[family.platform],
        credentials={"api_key": "any"},
        upstream_model=call.model,
    )
    answer = requests.post(
        family.url(endpoint, called, call),
        data=family.body(document, raw, call, call.model),
        headers=family.headers(endpoint, {"anthropic-beta": betas}),
        timeout=PATIENCE,
    )
    assert answer.status_code == 200, answer.text
