"""Errors as each family of paths shows them."""

import json

import pytest

from common import logs
from common.errors import (
    AuthenticationError,
    InsufficientBalance,
    InsufficientQuota,
    InternalError,
    InvalidRequest,
    MethodNotAllowed,
    ModelNotFound,
    PathNotServed,
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
from common.http import dialects
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


UNKNOWN = ["", "/", "/v1", "/v1/nothing", "/v1/tasks", "/v1/tasks/images", "/v1/imagesque", "/v1/usages", "/v1betas"]
UNKNOWN += ["/v1/tasks/responses", "/v1/admin/messages", "/admin/messages", "/console/models", "/docs/responses"]


@pytest.mark.parametrize("path", UNKNOWN)
def test_other_paths_get_type_and_message_alone(path):
    assert decoded(WRONG, path=path) == {"error": {"type": WRONG.type, "message": WRONG.message}}


@pytest.mark.parametrize(
    ("error", "type_", "google"),
    [
        (WRONG, "invalid_request_error", "INVALID_ARGUMENT"),
        (AuthenticationError(), "authentication_error", "UNAUTHENTICATED"),
        (PermissionRefused(), "permission_error", "PERMISSION_DENIED"),
        (PathNotServed("Not here."), "not_found_error", "NOT_FOUND"),
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
    logs.adopt_request_id("req-1")
    openai = {"message": error.message, "type": type_, "param": error.param, "code": error.type}
    assert decoded(error, path=CHAT) == decoded(error, path="/v1/responses") == {"error": openai}
    anthropic = {"type": "error", "error": {"type": type_, "message": error.message}, "request_id": "req-1"}
    assert decoded(error, path=MESSAGES) == decoded(error, path="/v1/messages/count_tokens") == anthropic
    shown = {"error": {"code": error.status, "message": error.message, "status": google}}
    assert decoded(error, path=GENERATE) == decoded(error, path="/v1beta/tunedModels/x:y") == shown


OPENAI, ANTHROPIC, GOOGLE = "OPENAI_TEXT", "ANTHROPIC", "GOOGLE"
VENDORS_PATHS = [
    *((path, OPENAI) for path in ("/v1/chat", "/v1/chat/completions/x", "/v1/responses/resp_1/cancel")),
    *((path, OPENAI) for path in ("/v1/completions", "/v1/embeddings", "/v1/audio/speech", "/v1/vector_stores/x")),
    *((path, ANTHROPIC) for path in ("/v1/messages/batches", "/v1/messages/batches/x/results", "/v1/complete")),
    *((path, GOOGLE) for path in ("/v1beta", "/v1beta/files/x", "/upload/v1beta/files", "/v1alpha/models/x:predict")),
    *((path, GOOGLE) for path in ("/v1/models/x:embedContent", "/v1/models/x:batchEmbedContents", "/v1beta/models/x")),
    *((path, OPENAI) for path in ("/responses", "/v1/v1/chat/completions", "/openai/v1/responses", "/v1beta/openai/x")),
    *((path, ANTHROPIC) for path in ("/messages", "/v1/v1/messages", "/anthropic/v1/messages/count_tokens")),
    *((path, GOOGLE) for path in ("/models/x:generateContent", "/v1/v1beta/models/x:streamGenerateContent")),
]


@pytest.mark.parametrize(("path", "name"), VENDORS_PATHS)
def test_a_path_of_a_vendor_is_answered_in_its_dialect_served_or_not(path, name):
    assert dialect_of(scope("POST", path)) is getattr(dialects, name)


@pytest.mark.parametrize("path", ["/v1/files", "/v1/batches/x", "/v1/v1/models", "/models"])
def test_a_path_that_several_vendors_have_tells_them_apart_by_the_headers(path):
    assert dialect_of(scope("GET", path)) is dialects.OPENAI_TEXT
    assert dialect_of(scope("GET", path, anthropic_version="2026-10-21")) is dialects.ANTHROPIC
    assert dialect_of(scope("GET", path, x_goog_api_key="k")) is dialects.GOOGLE


@pytest.mark.parametrize("kind", [InsufficientBalance, InsufficientQuota])
def test_too_little_balance_has_each_vendors_status_and_word(kind):
    empty = kind("0.10 USD are left, and this call may cost 1.29 USD.")
    seen = {path: error_answer(empty, dialect=dialect_of(scope("POST", path))) for path in (CHAT, MESSAGES, GENERATE)}
    assert [answer.status for answer in seen.values()] == [429, 402, 403]
    error = decoded(empty, path=CHAT)["error"]
    assert (error["type"], error["code"]) == ("insufficient_quota", "insufficient_quota")
    assert decoded(empty, path=MESSAGES)["error"]["type"] == "billing_error"
    google = decoded(empty, path=GENERATE)["error"]
    assert (google["code"], google["status"]) == (403, "PERMISSION_DENIED")


def test_pictures_of_a_task_key_keep_the_interfaces_word_for_too_little_balance():
    path = "/v1/images/generations"
    task, relayed = InsufficientBalance("Too little."), InsufficientQuota("Too little.")
    assert error_answer(task, dialect=dialects.of(path)).status == 403
    assert decoded(task, path=path)["error"]["type"] == "TASK_INSUFFICIENT_BALANCE"
    assert error_answer(relayed, dialect=dialects.of(path)).status == 429
    assert decoded(relayed, path=path)["error"]["type"] == "insufficient_quota"


def test_an_unknown_model_has_each_vendors_words():
    unknown = ModelNotFound("The model `gpt-0` does not exist.", param="model")
    shown = {"message": unknown.message, "type": "invalid_request_error", "param": "model", "code": "model_not_found"}
    for path in (CHAT, "/v1/images/generations", "/v1/models/gpt-0"):
        assert decoded(unknown, path=path) == {"error": shown}
    assert decoded(unknown, path=MESSAGES)["error"]["type"] == "not_found_error"
    assert decoded(unknown, path=GENERATE)["error"]["status"] == "NOT_FOUND"


def test_what_programs_read_of_an_error_stands_in_anthropics_details():
    details = {"error_code": "thread_unsupported_request", "unsupported": ["thread"]}
    refused = InvalidRequest("thread: is not supported.", details=details)
    assert decoded(refused, path=MESSAGES)["error"]["details"] == details
    assert "details" not in decoded(WRONG, path=MESSAGES)["error"]
    assert decoded(refused, path="/v1/tasks") == {"error": {"type": refused.type, "message": refused.message}}


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


SDKS = (dialects.OPENAI, dialects.OPENAI_TEXT, dialects.ANTHROPIC, dialects.GOOGLE)


@pytest.mark.parametrize(
    "error",
    [WRONG, AuthenticationError(), PermissionRefused(), ModelNotFound("?"), PathNotServed("?"), InsufficientQuota("?")],
)
def test_sdks_do_not_repeat_what_is_refused_however_often_it_is_sent(error):
    for dialect in SDKS:
        told = {"Retry-After": "60"} if dialect.status(error) == 429 else {}
        assert dialects.headers(error, dialect) == {"x-should-retry": "false", **told}
    assert "x-should-retry" not in dialects.headers(error, dialects.TASKS)


@pytest.mark.parametrize("error", [RateLimited("?"), ServiceUnavailable(), RequestTooLarge("?"), InternalError()])
def test_sdks_decide_for_themselves_on_everything_else(error):
    for dialect in SDKS:
        assert "x-should-retry" not in dialects.headers(error, dialect)


def test_only_sdks_are_told_to_stay_away_and_never_for_long():
    away = PricingUnavailable("No price.", headers={"Retry-After": "300"})
    lost = ServiceUnavailable(may_have_cost=True)
    assert dialects.headers(away, dialects.TASKS) == {"Retry-After": "300"}
    assert dialects.headers(lost, dialects.TASKS) == {"Retry-After": "5"}
    for dialect in SDKS:
        assert dialects.headers(away, dialect) == {"Retry-After": "60"}
        assert dialects.headers(lost, dialect) == {"Retry-After": "5", "x-should-retry": "false"}
