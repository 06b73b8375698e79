"""What the refusals of vendors stand for that say in words, or in shapes of their own, what went wrong."""

import json
from typing import Any

import pytest

from adapters.base import ErrorKind
from relay.families.base import Family
from relay.families.registry import CHAT, GENERATE_CONTENT, IMAGES, MESSAGES, RESPONSES


def openai(message: str = "x", kind: str | None = "invalid_request_error", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": None, **more}}


def anthropic(message: str, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


XAI = "Your team 1f has either used all available credits or reached its monthly spending limit. To continue, …"
USED_UP: list[tuple[Family, int, Any]] = [
    (
        MESSAGES,
        400,
        anthropic("You have reached your specified API usage limits. You will regain access on 2026-12-01."),
    ),
    (MESSAGES, 400, anthropic("You have reached your specified workspace API usage limits.")),
    (MESSAGES, 400, anthropic("Your credit balance is too low to access the Anthropic API.")),
    (CHAT, 429, openai("You exceeded your current quota", "insufficient_quota", code="insufficient_quota")),
    (CHAT, 429, openai("Your account is suspended", "exceeded_current_quota_error")),
    (CHAT, 429, {"code": "Some resource has been exhausted", "error": XAI}),
    (RESPONSES, 403, {"code": "The caller does not have permission", "error": XAI}),
    (
        CHAT,
        400,
        openai("Access denied, please make sure your account is in good standing.", "Arrearage", code="Arrearage"),
    ),
    (CHAT, 403, openai("The account has an overdue balance.", "Forbidden", code="AccountOverdueError")),
    (CHAT, 402, openai("Insufficient Balance", "unknown_error", code="invalid_request_error")),
]


@pytest.mark.parametrize(("family", "status", "body"), USED_UP)
def test_an_account_with_nothing_left_to_spend_is_known_by_code_or_words(family, status, body):
    assert family.refusal(status, {}, json.dumps(body).encode()).kind is ErrorKind.QUOTA_EXHAUSTED


UNKNOWN_MODEL: list[tuple[Family, int, Any]] = [
    (
        CHAT,
        404,
        openai("The model `gpt-missing` does not exist or you do not have access to it.", code="model_not_found"),
    ),
    (CHAT, 400, openai("The requested model 'gpt-missing' does not exist.", code="model_not_found", param="model")),
    (CHAT, 400, openai("invalid model ID")),
    (CHAT, 400, openai("Model Not Exist")),
    (CHAT, 400, {"code": 20012, "message": "Model does not exist. Please check it carefully.", "data": None}),
    (CHAT, 400, {"error": {"code": "1211", "message": "模型不存在，请检查模型代码。"}}),
    (CHAT, 400, {"error": {"message": "a/b is not a valid model ID", "code": 400}}),
    (CHAT, 404, {"object": "error", "message": "The model `x` does not exist.", "type": "NotFoundError", "code": 404}),
    (CHAT, 400, {"object": "error", "message": "Invalid model: x", "type": "invalid_model", "code": "1500"}),
    (CHAT, 404, openai("…", "Not Found", code="InvalidEndpointOrModel.NotFound")),
    (CHAT, 404, b""),
    (RESPONSES, 400, openai("The requested model 'x' does not exist.", code="model_not_found", param="model")),
    (IMAGES, 400, openai("Invalid value: 'x'. Supported values are: 'y'.", code="invalid_value", param="model")),
    (MESSAGES, 404, anthropic("model: claude-missing", "not_found_error")),
    (MESSAGES, 400, anthropic("The provided model identifier is invalid.")),
    (
        GENERATE_CONTENT,
        404,
        {"error": {"code": 404, "status": "NOT_FOUND", "message": "models/x is not found for API version v1beta."}},
    ),
]


@pytest.mark.parametrize(("family", "status", "body"), UNKNOWN_MODEL)
def test_a_model_that_an_upstream_does_not_know_is_none_of_the_requests_other_faults(family, status, body):
    error = family.refusal(status, {}, body if isinstance(body, bytes) else json.dumps(body).encode())
    assert error.kind is ErrorKind.MODEL_UNAVAILABLE


@pytest.mark.parametrize("status", [400, 429])
def test_a_router_without_a_deployment_that_works_is_not_available(status):
    body = openai("There are no healthy deployments for this model. Passed model=x.")
    error = CHAT.refusal(status, {}, json.dumps(body).encode())
    assert error.kind is ErrorKind.OVERLOADED


@pytest.mark.parametrize(
    "body",
    [
        openai("Invalid value: 'x'.", code="invalid_value", param="messages"),
        openai("This model does not support tools."),
        openai("The file a.pdf was not found."),
        openai("This model's maximum context length is 8192 tokens.", code="context_length_exceeded"),
        openai("The model `x` does not exist in your text", code="context_length_exceeded"),
    ],
)
def test_other_faults_of_a_request_stay_its_own(body):
    error = CHAT.refusal(400, {}, json.dumps(body).encode())
    assert error.kind is ErrorKind.INVALID_REQUEST


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ({"code": 429, "msg": "too many", "success": False}, ErrorKind.RATE_LIMITED, "too many"),
        ({"error": {"message": "x", "code": "429"}}, ErrorKind.RATE_LIMITED, "x"),
        ({"status": 429, "error": "slow down"}, ErrorKind.RATE_LIMITED, "slow down"),
        ({"statusCode": 401, "message": "no"}, ErrorKind.AUTH, "no"),
        ({"code": 503, "msg": "busy"}, ErrorKind.AMBIGUOUS, "busy"),
        ({"error": {"message": "busy", "code": 503}}, ErrorKind.OVERLOADED, "busy"),
        ({"code": 500, "detail": "no"}, ErrorKind.AMBIGUOUS, "no"),
        ({"code": 400, "detail": [{"msg": "bad", "loc": ["body"]}]}, ErrorKind.INVALID_REQUEST, "bad"),
        ({"base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, ErrorKind.RATE_LIMITED, "rate limit"),
        ({"code": 0, "data": {}}, ErrorKind.AMBIGUOUS, "HTTP 200 without a usable body"),
        ({"code": [], "status": {}, "error": [1]}, ErrorKind.AMBIGUOUS, "HTTP 200 without a usable body"),
    ],
)
def test_a_200_that_is_no_answer_is_as_definite_as_the_code_in_its_body(body, kind, message):
    error = CHAT.refusal(200, {}, json.dumps(body).encode())
    assert (error.kind, error.message) == (kind, message)


@pytest.mark.parametrize(
    ("status", "body", "names"),
    [
        (400, b'{"error": {"message": "stream_options?"}}', True),
        (422, b"no stream_options, please", True),
        (404, b"stream_options", False),
        (500, b"stream_options", False),
        (200, b"stream_options", False),
        (200, b'{"code": 400, "msg": "stream_options"}', True),
        (400, b'{"error": {"message": "no"}}', False),
    ],
)
def test_a_refusal_tells_whether_it_speaks_of_stream_options(status, body, names):
    assert CHAT.refusal(status, {}, body).names_stream_options is names
