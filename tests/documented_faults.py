"""Whose fault each documented refusal of each provider is: providers-2026-11 of the references, section 9, and what the
pages of Anthropic, Groq and Google say beside it. One row: the HTTP status, the body, and the kind of error."""

from typing import Any, NamedTuple

from adapters.base import ErrorKind

INVALID, CONTENT = ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY
MODEL, AUTH = ErrorKind.MODEL_UNAVAILABLE, ErrorKind.AUTH
QUOTA, FORBIDDEN, RATE = ErrorKind.QUOTA_EXHAUSTED, ErrorKind.FORBIDDEN, ErrorKind.RATE_LIMITED


class Refusal(NamedTuple):
    """One answer of a provider."""

    status: int
    body: Any
    kind: ErrorKind


def of_openai(code: str | None = None, message: str = "no", kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def of_xai(message: str, code: str = "permission-denied") -> dict[str, Any]:
    return {"code": code, "error": message}


def of_google(status: str, reason: str = "", message: str = "no", quota: str = "") -> dict[str, Any]:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    if quota:
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]})
    return {"error": {"code": 400, "message": message, "status": status, "details": details}}


def of_dashscope(code: str) -> dict[str, Any]:
    return {"code": code, "message": "no", "request_id": "r1"}


def of_kling(code: int, message: str = "no") -> dict[str, Any]:
    return {"code": code, "message": message, "request_id": "r1"}


def of_minimax(number: int) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "error", "message": f"no ({number})", "http_code": "400"}}


def of_openrouter(code: int, message: str = "no", **metadata: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "metadata": metadata}}


def of_anthropic(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}}


OWN_SIZE = "Request too large for m in organization org-1 on tokens per min (TPM): Limit 30000, Requested 342389."
TOO_FAST = "Rate limit reached for m on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."
NO_CREDITS = "Your team 1f has either used all available credits or reached its monthly spending limit."
NEW_TEAM = "Your newly created team doesn't have any credits or licenses yet."
MUST_VERIFY = "Your organization must be verified to use the model `m`. Please go to the settings."
AFFORD = "This request requires more credits, or fewer max_tokens. You requested 64000, but can only afford 1234."
FIREWALL = "<html><head><title>403 Forbidden</title></head></html>"
BARE = (Refusal(401, FIREWALL, AUTH), Refusal(402, FIREWALL, QUOTA), Refusal(403, FIREWALL, FORBIDDEN))
"""Without words that anybody documents the status decides, and that of a 403 says nothing."""

OPENAI = (
    Refusal(400, of_openai("moderation_blocked"), CONTENT),
    Refusal(400, of_openai("content_policy_violation"), CONTENT),
    Refusal(400, of_openai("invalid_value"), INVALID),
    Refusal(429, of_openai("rate_limit_exceeded", OWN_SIZE, "tokens"), INVALID),
    Refusal(429, of_openai("rate_limit_exceeded", TOO_FAST, "tokens"), RATE),
    Refusal(404, of_openai("model_not_found"), MODEL),
    Refusal(403, of_openai("model_not_found"), MODEL),
    Refusal(403, of_openai(None, MUST_VERIFY), MODEL),
    Refusal(403, of_openai("unsupported_model", MUST_VERIFY), MODEL),
    Refusal(401, of_openai("invalid_api_key"), AUTH),
    Refusal(401, of_openai(None, "You have insufficient permissions. Missing scopes: model.request"), AUTH),
    Refusal(403, of_openai(None, "You may not do this."), FORBIDDEN),
    Refusal(429, of_openai("insufficient_quota"), QUOTA),
    Refusal(400, of_openai("billing_hard_limit_reached"), QUOTA),
)
XAI = (
    Refusal(400, of_xai("Generated image rejected by content moderation.", "imagine:content-moderated"), CONTENT),
    Refusal(403, of_xai("Content violates usage guidelines."), CONTENT),
    Refusal(400, of_xai("n is too large.", "Client specified an invalid argument"), INVALID),
    Refusal(422, of_xai("missing field `prompt`", ""), INVALID),
    Refusal(404, of_xai("The model m does not exist or your team has no access to it.", "not-found"), MODEL),
    Refusal(400, of_xai("Incorrect API key provided: xa***ab.", "Client specified an invalid argument"), AUTH),
    Refusal(401, of_xai("Incorrect API key provided.", "unauthenticated"), AUTH),
    Refusal(403, of_xai("Your API key is currently blocked and cannot be used."), AUTH),
    Refusal(403, of_xai(NO_CREDITS), QUOTA),
    Refusal(429, of_xai(NO_CREDITS, "Some resource has been exhausted"), QUOTA),
    Refusal(403, of_xai(NEW_TEAM), QUOTA),
    Refusal(429, of_xai("Too many requests.", "Some resource has been exhausted"), RATE),
    Refusal(403, of_xai("no"), FORBIDDEN),
)
GOOGLE = (
    Refusal(400, of_google("INVALID_ARGUMENT"), INVALID),
    Refusal(403, of_google("PERMISSION_DENIED", message="You do not have permission to access the File x."), INVALID),
    Refusal(404, of_google("NOT_FOUND"), MODEL),
    Refusal(400, of_google("INVALID_ARGUMENT", message="This model only supports Interactions API."), MODEL),
    Refusal(400, of_google("INVALID_ARGUMENT", "API_KEY_INVALID"), AUTH),
    Refusal(400, of_google("INVALID_ARGUMENT", "API_KEY_EXPIRED"), AUTH),
    Refusal(403, of_google("PERMISSION_DENIED", "API_KEY_SERVICE_BLOCKED"), AUTH),
    Refusal(403, of_google("PERMISSION_DENIED", "SERVICE_DISABLED"), AUTH),
    Refusal(403, of_google("PERMISSION_DENIED", "CONSUMER_SUSPENDED"), AUTH),
    Refusal(401, of_google("UNAUTHENTICATED"), AUTH),
    Refusal(403, of_google("PERMISSION_DENIED", "BILLING_DISABLED"), QUOTA),
    Refusal(429, of_google("RESOURCE_EXHAUSTED", quota="GenerateRequestsPerDayPerProjectPerModel"), QUOTA),
    Refusal(429, of_google("RESOURCE_EXHAUSTED", quota="GenerateRequestsPerMinutePerProject"), RATE),
    Refusal(403, of_google("PERMISSION_DENIED"), FORBIDDEN),
)
ARK = (
    Refusal(400, of_openai("InputTextSensitiveContentDetected"), CONTENT),
    Refusal(400, of_openai("OutputImageSensitiveContentDetected.PolicyViolation"), CONTENT),
    Refusal(400, of_openai("InvalidParameter"), INVALID),
    Refusal(400, of_openai("InvalidParameter.OversizeImage"), INVALID),
    Refusal(400, of_openai("MissingParameter"), INVALID),
    Refusal(404, of_openai("ModelNotOpen"), MODEL),
    Refusal(404, of_openai("InvalidEndpointOrModel.NotFound"), MODEL),
    Refusal(404, of_openai("InvalidEndpointOrModel.ModelIDAccessDisabled"), MODEL),
    Refusal(403, of_openai("OperationDenied.ServiceNotOpen"), MODEL),
    Refusal(401, of_openai("AuthenticationError"), AUTH),
    Refusal(403, of_openai("AccessDenied"), AUTH),
    Refusal(403, of_openai("InvalidAccountStatus"), AUTH),
    Refusal(403, of_openai("AccountOverdueError"), QUOTA),
    Refusal(403, of_openai("OperationDenied.ServiceOverdue"), QUOTA),
    Refusal(429, of_openai("QuotaExceeded"), QUOTA),
    Refusal(429, of_openai("SetLimitExceeded"), QUOTA),
    Refusal(429, of_openai("ModelAccountRpmRateLimitExceeded"), RATE),
)
DASHSCOPE = (
    Refusal(400, of_dashscope("DataInspectionFailed"), CONTENT),
    Refusal(400, of_dashscope("InvalidParameter"), INVALID),
    Refusal(400, of_dashscope("InvalidParameter.Size"), INVALID),
    Refusal(404, of_dashscope("ModelNotFound"), MODEL),
    Refusal(403, of_dashscope("Model.AccessDenied"), MODEL),
    Refusal(401, of_dashscope("InvalidApiKey"), AUTH),
    Refusal(403, of_dashscope("AccessDenied"), AUTH),
    Refusal(403, of_dashscope("Workspace.AccessDenied"), AUTH),
    Refusal(400, of_dashscope("Arrearage"), QUOTA),
    Refusal(403, of_dashscope("AllocationQuota.FreeTierOnly"), QUOTA),
    Refusal(400, of_dashscope("CommodityNotPurchased"), QUOTA),
    Refusal(400, of_dashscope("PrepaidBillOverdue"), QUOTA),
    Refusal(400, of_dashscope("PostpaidBillOverdue"), QUOTA),
    Refusal(429, of_dashscope("Throttling.RateQuota"), RATE),
)
KLING = (
    *(Refusal(400, of_kling(code), CONTENT) for code in (1300, 1301)),
    *(Refusal(400, of_kling(code), INVALID) for code in (1200, 1201, 1202, 1203)),
    *(Refusal(404, of_kling(code, "the model m is not supported"), MODEL) for code in (1202, 1203)),
    *(Refusal(401, of_kling(code), AUTH) for code in (1000, 1001, 1002, 1003, 1004)),
    Refusal(403, of_kling(1103), AUTH),
    Refusal(403, of_kling(1304), AUTH),
    *(Refusal(429, of_kling(code), QUOTA) for code in (1100, 1101, 1102)),
    *(Refusal(429, of_kling(code), RATE) for code in (1302, 1303)),
)
MINIMAX = (
    *(Refusal(400, of_minimax(number), CONTENT) for number in (1026, 1027)),
    Refusal(400, of_minimax(2013), INVALID),
    Refusal(401, of_minimax(1004), AUTH),
    Refusal(400, of_minimax(1008), QUOTA),
    Refusal(429, of_minimax(1002), RATE),
)
OPENROUTER = (
    Refusal(400, of_openrouter(400), INVALID),
    Refusal(403, of_openrouter(403, "Your input was flagged"), CONTENT),
    Refusal(403, of_openrouter(403, reasons=["violence"]), CONTENT),
    Refusal(403, of_openrouter(403, flagged_input="a fox"), CONTENT),
    Refusal(413, of_openrouter(413), INVALID),
    Refusal(404, of_openrouter(404, "No endpoints found for m."), MODEL),
    Refusal(404, of_openrouter(404, "No endpoints found that support image input"), INVALID),
    Refusal(401, of_openrouter(401), AUTH),
    Refusal(402, of_openrouter(402), QUOTA),
    Refusal(402, of_openrouter(402, AFFORD), INVALID),
    Refusal(403, of_openrouter(403, "Key limit exceeded (monthly limit)."), QUOTA),
    Refusal(403, of_openrouter(403), FORBIDDEN),
    Refusal(429, of_openrouter(429), RATE),
)
RUNWAY = (
    Refusal(400, {"error": "Text did not pass content moderation."}, CONTENT),
    Refusal(400, {"error": "Validation of body failed"}, INVALID),
    Refusal(403, {"error": "Model variant gen4_turbo is not available."}, MODEL),
    Refusal(400, {"error": "Model gen9 does not exist."}, MODEL),
    Refusal(401, {"error": "Unauthorized"}, AUTH),
    Refusal(400, {"error": "You do not have enough credits to run this task."}, QUOTA),
    Refusal(403, {"error": "Forbidden"}, FORBIDDEN),
    Refusal(429, {"error": "Slow down"}, RATE),
)
ANTHROPIC = (
    Refusal(400, of_anthropic("invalid_request_error"), INVALID),
    Refusal(413, of_anthropic("request_too_large"), INVALID),
    Refusal(429, of_anthropic("rate_limit_error", "Extra usage is required for long context requests."), INVALID),
    Refusal(404, of_anthropic("not_found_error", "model: m"), MODEL),
    Refusal(401, of_anthropic("authentication_error"), AUTH),
    Refusal(400, of_anthropic("invalid_request_error", "This organization has been disabled."), AUTH),
    Refusal(402, of_anthropic("billing_error"), QUOTA),
    Refusal(400, of_anthropic("invalid_request_error", "Your credit balance is too low to access the API."), QUOTA),
    Refusal(400, of_anthropic("invalid_request_error", "You have reached your specified API usage limits."), QUOTA),
    Refusal(403, of_anthropic("permission_error"), FORBIDDEN),
    Refusal(429, of_anthropic("rate_limit_error"), RATE),
)
GROQ = (Refusal(413, of_openai("rate_limit_exceeded", OWN_SIZE, "tokens"), INVALID),)
MINIMAX_CHAT = (
    Refusal(200, {"base_resp": {"status_code": 1026, "status_msg": "no"}}, CONTENT),
    Refusal(200, {"base_resp": {"status_code": 2013, "status_msg": "no"}}, INVALID),
    Refusal(200, {"base_resp": {"status_code": 1004, "status_msg": "no"}}, AUTH),
    Refusal(200, {"base_resp": {"status_code": 1008, "status_msg": "no"}}, QUOTA),
)
