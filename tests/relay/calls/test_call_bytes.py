"""Relayed bodies that hold what only the provider may judge: texts and numbers that no column of ours takes."""

import json
from typing import Any

import pytest

from tests.relay.calling import Relay, completion
from tests.relay.upstreams import Upstream, answers

pytestmark = pytest.mark.django_db(transaction=True)

PRICES = {"*": {"input": 2, "output": 8}}
TEXT = rb'"Hello \u0000 and \ud83d"'
ODD = rb'"a\u0000\ud800b", 18446744073709551615, -18446744073709551615, 1e999, ' + b"9" * 5_000
SCHEMA = rb'{"type": "object", "k\u0000\udfff": {"enum": [' + ODD + rb'], "default": "\udc00"}}'
ASKED = [{"role": "user", "content": "TEXT"}]
TOOL = {"name": "now", "description": "TEXT"}
CHAT_TOOL = {"type": "function", "function": {**TOOL, "parameters": "SCHEMA"}}
DOCUMENTS: dict[str, Any] = {
    "/v1/chat/completions": {"max_tokens": 9, "messages": ASKED, "tools": [CHAT_TOOL]},
    "/v1/responses": {
        "max_output_tokens": 9,
        "input": "TEXT",
        "tools": [{**TOOL, "type": "function", "parameters": "SCHEMA"}],
    },
    "/v1/messages": {"max_tokens": 9, "messages": ASKED, "tools": [{**TOOL, "input_schema": "SCHEMA"}]},
    "/v1beta/models/m:generateContent": {
        "generationConfig": {"maxOutputTokens": 9, "responseJsonSchema": "SCHEMA"},
        "contents": [{"parts": [{"text": "TEXT"}]}],
        "tools": [{"functionDeclarations": [{**TOOL, "parametersJsonSchema": "SCHEMA"}]}],
    },
}
SAID = [{"type": "text", "text": "Hi."}]
ANSWERS: dict[str, Any] = {
    "/v1/chat/completions": completion(model="m"),
    "/v1/responses": {"id": "r", "object": "response", "output": [{"type": "message", "content": SAID}]},
    "/v1/messages": {"type": "message", "role": "assistant", "content": SAID, "stop_reason": "end_turn"},
    "/v1beta/models/m:generateContent": {"candidates": [{"content": {"parts": [{"text": "Hi."}]}}]},
}
PLATFORMS = {"/v1/messages": "anthropic", "/v1beta/models/m:generateContent": "gemini"}


def body(path: str) -> bytes:
    named = {} if "generate" in path else {"model": "m"}
    plain = json.dumps({**named, **DOCUMENTS[path]}).encode()
    return plain.replace(b'"TEXT"', TEXT).replace(b'"SCHEMA"', SCHEMA)


@pytest.mark.parametrize("path", DOCUMENTS)
def test_a_body_goes_on_byte_for_byte_whatever_its_schemas_and_texts_hold(account, path):
    relay = Relay(account, PLATFORMS.get(path, "openai"), prices=PRICES)
    relay.channel(there := Upstream(answers(ANSWERS[path])))
    assert relay.call(body(path), path=path).status == 200
    assert there.requests[0].partition(b"\r\n\r\n")[2] == body(path)
