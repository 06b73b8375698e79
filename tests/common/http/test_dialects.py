"""Errors as each family of paths shows them."""

import json

import pytest

from common.errors import (
    AuthenticationError,
    InsufficientBalance,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    ModelNotFound,
    PermissionRefused,
    PricingUnavailable,
    RateLimited,
    RequestTooLarge,
    ServiceUnavailable,
    TaskNotFound,
    UnsupportedMediaType,
    UpstreamRefusal,
    UpstreamTimeout,
    UpstreamUnknown,
)
from common.http import dialects, request_ids
from common.http.asgi import dialect_of, error_answer
from tests.scopes import scope


def decoded(error, method="POST", path="", **headers):
    return json.loads(error_answer(error, dialect=dialect_of(scope(method, path, **headers))).body)


WRONG = InvalidRequest("params.n must be an integer from 1 to 4.", param="params.n")
CHAT, MESSAGES, GENERATE = "/v1/chat/completions", "/v1/messages", "/v1/models/org/gem-1:streamGenerateContent"


@pytest.mark.parametrize("path", ["/v1/images/generations", "/v1/images/edits", "/v1/images/other", "/v1/videos/x"])
def test_sdks_get_openais_shape(path):
    shown = {"message": WRONG.message, "type": "TASK_INVALID_REQUEST", "param": "params.n"}
    assert decoded(WRONG, path=path) == {"error": shown | {"code": "TASK_INVALID_REQUEST"}}


UNKNOWN = ["", "/v1/tasks", "/v1/tasks/images", "/v1/imagesque", "/other/v1/images/edits"]
UNKNOWN += ["/v1/chat", "/v1/chat/completions/x", "/v1/messages/batches", "/v1/usages", "/v1beta", "/v1beta/modelsque"]


@pytest.mark.parametrize("path", UNKNOWN)
def test_other_paths_get_type_and_message_alone(path):
    assert decoded(WRONG, path=path) == {"error": {"type": WRONG.type, "message": WRONG.message}}


@pytest.mark.parametrize(
    ("error", "type_", "google"),
    [
        (WRONG, "invalid_request_error", "INVALID_ARGUMENT"),
        (AuthenticationError(), "authentication_error", "UNAUTHENTICATED"),
        (PermissionRefused(), "permission_error", "PERMISSION_DENIED"),
        (ModelNotFound("model: is not on offer."), "not_found_error", "NOT_FOUND"),
        (TaskNotFound("Unknown path."), "not_found_error", "NOT_FOUND"),
        (MethodNotAllowed("This path does not take that method."), "invalid_request_error", "INVALID_ARGUMENT"),
        (RequestTooLarge("Too large."), "request_too_large", "INVALID_ARGUMENT"),
        (UnsupportedMediaType("No JSON."), "invalid_request_error", "INVALID_ARGUMENT"),
        (RateLimited("Too many."), "rate_limit_error", "RESOURCE_EXHAUSTED"),
        (InternalError(), "api_error", "INTERNAL"),
        (UpstreamUnknown(), "api_error", "INTERNAL"),
        (ServiceUnavailable(), "overloaded_error", "UNAVAILABLE"),
        (UpstreamTimeout(), "timeout_error", "DEADLINE_EXCEEDED"),
    ],
)
def test_each_vendors_clients_get_its_own_words(error, type_, google):
    request_ids.adopt("req-1")
    openai = {"message": error.message, "type": type_, "param": error.param, "code": error.type}
    assert decoded(error, path=CHAT) == decoded(error, path="/v1/responses") == {"error": openai}
    anthropic = {"type": "error", "error": {"type": type_, "message": error.message}, "request_id": "req-1"}
    assert decoded(error, path=MESSAGES) == decoded(error, path="/v1/messages/count_tokens") == anthropic
    shown = {"error": {"code": error.status, "message": error.message, "status": google}}
    assert decoded(error, path=GENERATE) == decoded(error, path="/v1beta/tunedModels/x:y") == shown


def test_an_empty_balance_has_a_word_of_its_own():
    empty = InsufficientBalance("The balance does not cover this call.")
    assert decoded(empty, path=CHAT)["error"]["type"] == "insufficient_quota"
    assert decoded(empty, path=MESSAGES)["error"]["type"] == "billing_error"
    assert decoded(empty, path=GENERATE)["error"]["status"] == "PERMISSION_DENIED"


def test_a_providers_refusal_keeps_its_words():
    long = UpstreamRefusal(
        "Too long.", status=400, error_type="invalid_request_error", param="input", code="context_length_exceeded"
    )
    shown = {"message": "Too long.", "type": "invalid_request_error", "param": "input"}
    assert decoded(long, path=CHAT) == {"error": shown | {"code": "context_length_exceeded"}}
    failed = UpstreamRefusal("Not here.", status=400, error_type="FAILED_PRECONDITION")
    assert decoded(failed, path=GENERATE)["error"]["status"] == "FAILED_PRECONDITION"


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/ft:gpt:org::1", "/v1/usage"])
def test_paths_that_vendors_share_answer_by_the_headers(path):
    assert decoded(WRONG, "GET", path)["error"]["type"] == "invalid_request_error"
    assert decoded(WRONG, "GET", path, anthropic_version="2026-10-21")["type"] == "error"
    assert decoded(WRONG, "GET", path, x_goog_api_key="k")["error"]["status"] == "INVALID_ARGUMENT"


def test_only_sdks_are_told_to_stay_away_and_never_for_long():
    away = PricingUnavailable("No price.", headers={"Retry-After": "300"})
    lost = ServiceUnavailable(may_have_cost=True)
    assert dialects.headers(away, dialects.TASKS) == {"Retry-After": "300"}
    assert dialects.headers(lost, dialects.TASKS) == {"Retry-After": "5"}
    for dialect in (dialects.OPENAI, dialects.OPENAI_TEXT, dialects.ANTHROPIC, dialects.GOOGLE):
        assert dialects.headers(away, dialect) == {"Retry-After": "60"}
        assert dialects.headers(lost, dialect) == {"Retry-After": "5", "x-should-retry": "false"}
