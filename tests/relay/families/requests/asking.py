"""What a dialect makes of a request: the call that it asks for, and what is refused of it."""

import json
from dataclasses import replace
from typing import Any

import pytest

from common.errors import InvalidRequest
from relay.families.base import AskedCall, CallPath, Family, RefusedField
from relay.families.registry import find_family

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
GEMINI = "/v1beta/models/m:generateContent"
GENERATIONS = "/v1/images/generations"
SAID: dict[str, dict[str, Any]] = {
    CHAT: {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    RESPONSES: {"model": "m", "input": "hi"},
    MESSAGES: {"model": "m", "max_tokens": 50, "messages": [{"role": "user", "content": "hi"}]},
    GEMINI: {"contents": [{"parts": [{"text": "hi"}]}]},
    f"{MESSAGES}/count_tokens": {"model": "m", "messages": [{"role": "user", "content": "hi"}]},
    GENERATIONS: {"model": "m", "prompt": "a cat"},
}


def understood(path: str, more: dict[str, Any], betas: tuple[str, ...] = ()) -> tuple[AskedCall, list[RefusedField]]:
    """The usual request of a path with more fields, and what is refused of it."""
    family, called = find_family("POST", path)
    called = replace(called, betas=betas)
    document = {**SAID[path], **more}
    raw = json.dumps(document).encode()
    document = family.document(raw, called)
    call = family.read(document, raw, called)
    return call, list(call.refused)


def refused_of(family: Family, document: dict[str, Any], path: CallPath) -> list[RefusedField]:
    """What a dialect refuses of a request."""
    return list(family.read(document, json.dumps(document).encode(), path).refused)


def refused(path: str, more: dict[str, Any], betas: tuple[str, ...] = ()) -> list[RefusedField]:
    return understood(path, more, betas)[1]


def paths(path: str, more: dict[str, Any]) -> list[str]:
    """Where a request says what is refused."""
    return [field.path for field in refused(path, more)]


def said_no(path: str, more: dict[str, Any]) -> str | None:
    """The field that makes a request no valid one, whatever an operator opens."""
    with pytest.raises(InvalidRequest) as refusal:
        understood(path, more)
    return refusal.value.param


def sent_of(path: str, more: dict[str, Any]) -> dict[str, Any]:
    """The usual request of a path with more fields, as it goes upstream."""
    family, called = find_family("POST", path)
    raw = json.dumps({**SAID[path], **more}).encode()
    document = family.document(raw, called)
    answer: dict[str, Any] = json.loads(family.body(document, raw, family.read(document, raw, called), "m"))
    return answer


def sent(path: str, body: str, limit: int | None = None, **options: Any) -> str:
    """The body as it goes upstream, with a limit that the relay adds."""
    family, _ = find_family("POST", path)
    call = AskedCall(model="m", is_stream=False, input_bound=1, input_estimate=1, sent_limit=limit)
    return family.body(json.loads(body), body.encode(), call, "m", **options).decode()
