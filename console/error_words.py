"""Explanations of every error of the API: why it happens, and what to do next. Its message says what happened."""

from dataclasses import dataclass

from common import error_types


@dataclass(frozen=True, slots=True)
class Advice:
    """Cause and next step of an error, a sentence each."""

    why: str
    next_step: str


WAIT = "Wait a moment, then try again."
ASK = "Ask the operator of this service."
BUG = "Try again; if it happens again, tell the operator of this service the time and the address."

TASK_ERRORS = {
    error_types.CONTENT_REJECTED.name: Advice(
        "The provider's policy does not allow the prompt, an input image, or the result.",
        "Change the prompt or the images and run it again; the same request would be refused again.",
    ),
    error_types.UPSTREAM_REJECTED.name: Advice(
        "The provider does not accept this combination of fields.",
        "Change the size, the length or the inputs and run it again; the same request would be refused again.",
    ),
    error_types.INPUT_UNREACHABLE.name: Advice(
        "An input's address did not answer, asks for a sign-in, or has expired.",
        "Open the address in a private window to check it. Upload the file here instead, or use a public address.",
    ),
    error_types.UPSTREAM_ERROR.name: Advice(
        "The provider failed, and all alternatives were tried.",
        "Run it again in a few minutes: the request itself is valid.",
    ),
    error_types.OUTCOME_UNKNOWN.name: Advice(
        "The connection to the provider was lost after the request was sent, so it is unknown whether it ran.",
        "Run it again if you still need it.",
    ),
    error_types.STORAGE_UNAVAILABLE.name: Advice(
        "The file storage was unavailable when the result arrived.",
        "Run it again in a few minutes.",
    ),
    error_types.NO_CAPABLE_ROUTE.name: Advice(
        "The last provider that could run it was taken out of service while it waited.",
        "Run it again; if it is refused, choose another model.",
    ),
    error_types.TIMEOUT.name: Advice(
        "It waited or ran longer than the limit for such tasks.",
        "Run it again later, or with another model.",
    ),
    error_types.INTERNAL_ERROR.name: Advice(
        "This service failed, not your request.",
        "Run it again; if it fails again, tell the operator of this service the task id.",
    ),
}
UNKNOWN = Advice("This page does not know this kind of error.", f"Read its message. {ASK}")

REQUEST_ERRORS = {
    error_types.AUTHENTICATION_ERROR.name: Advice(
        "The key is missing, wrong, expired or disabled.", "Sign in with a valid key."
    ),
    "permission_error": Advice("The key is valid, but not for this.", "Use a key of the other kind."),
    "rate_limit_error": Advice("The model's providers are resting after too many requests.", WAIT),
    "overloaded_error": Advice("No provider of the model can be reached now.", WAIT),
    "api_error": Advice("The provider's answer was lost.", "Nothing was charged; send it again if you still need it."),
    "timeout_error": Advice("The provider took too long.", "Nothing was charged; send it again if you still need it."),
    "insufficient_quota": Advice(
        "The balance or a budget is lower than the call may cost.", "Top up, or set a lower output limit."
    ),
    "invalid_request_error": Advice(
        "This kind of request is not supported here.", "See the reference for those that are."
    ),
    "not_found_error": Advice("The key's platform does not have it.", "See the reference for what it has."),
    error_types.SCOPE_REQUIRED.name: Advice("The key is not a task key.", "Use a key that begins with dr-task-."),
    error_types.BILLING_UNSUPPORTED.name: Advice("The account pays by subscription.", f"Tasks need a balance. {ASK}"),
    error_types.INSUFFICIENT_BALANCE.name: Advice(
        "The balance, minus the holds of running tasks, is lower than the price.",
        "Top up, or choose a cheaper size or length.",
    ),
    error_types.INVALID_REQUEST.name: Advice(
        "A field is missing or has a value that is not allowed.", "Correct the named field."
    ),
    error_types.UNSUPPORTED_MODEL.name: Advice(
        "The key cannot use a model with this name.", "Choose one from the list."
    ),
    error_types.UNSUPPORTED_ADAPTER.name: Advice(
        "The model does not support this modality.", "Choose a model that does."
    ),
    error_types.NO_CAPABLE_ROUTE.name: Advice(
        "No provider of the model accepts this combination of fields.", "Leave out or change the named field."
    ),
    error_types.PRICING_UNAVAILABLE.name: Advice("There is no price for this size or length.", "Choose another one."),
    error_types.STORAGE_UNAVAILABLE.name: Advice("The file storage is unavailable.", WAIT),
    error_types.QUEUE_LIMIT_EXCEEDED.name: Advice(
        "The queue is full.", "Wait until some tasks have ended, or cancel some."
    ),
    error_types.NOT_FOUND.name: Advice(
        "It may belong to another key, or have been deleted.", "Look for it in the gallery or the live list."
    ),
    error_types.REQUEST_TOO_LARGE.name: Advice(
        "The request with its files is too large.", "Use smaller files, or URLs."
    ),
    error_types.RATE_LIMITED.name: Advice("Too many requests came in a short time.", WAIT),
    error_types.STREAM_LIMIT_EXCEEDED.name: Advice(
        "Too many live pages of this key are open.", "Close a tab, then reload this page."
    ),
    error_types.API_PAUSED.name: Advice("New tasks are paused; queued and running ones continue.", "Try again later."),
    error_types.API_DISABLED.name: Advice("The service for tasks is switched off.", f"Try again later. {ASK}"),
    error_types.NOT_CANCELABLE.name: Advice("Only a queued task can be canceled.", "Wait until it has ended."),
    error_types.NOT_REDELIVERABLE.name: Advice(
        "A callback is sent when its task has ended, to the callback_url of the request.",
        "Wait until the task has ended, or set a callback_url in the next request.",
    ),
    error_types.ASSET_IN_USE.name: Advice(
        "A queued or running task uses the file.", "Delete it once that task has ended."
    ),
    error_types.ASSET_EXPIRED.name: Advice(
        "Files are deleted after a while.", "Run the request again to make a new one."
    ),
    error_types.ASSET_URL_INVALID.name: Advice("File addresses expire.", "Reload the page for a new one."),
    error_types.RANGE_NOT_SATISFIABLE.name: Advice("The file is shorter than that.", "Request the whole file."),
    error_types.METHOD_NOT_ALLOWED.name: Advice("The address does not support this method.", "See the reference."),
    error_types.UNSUPPORTED_MEDIA_TYPE.name: Advice("The body has an unsupported type.", "Send JSON."),
    error_types.INTERNAL_ERROR.name: Advice("This service failed, not your request.", BUG),
    error_types.SERVICE_UNAVAILABLE.name: Advice("An essential part of the service is unavailable.", WAIT),
    error_types.TIMEOUT.name: Advice(
        "It takes longer than a request may wait; the task continues.", "Follow it in the live list."
    ),
}


def explain_task_error(error_type: str) -> Advice:
    return TASK_ERRORS.get(error_type, UNKNOWN)


def explain_request_error(error_type: str) -> Advice:
    return REQUEST_ERRORS.get(error_type, UNKNOWN)
