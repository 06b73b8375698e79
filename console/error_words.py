"""Every error of the interface in words: why it came, and what to do next. What happened is its own message."""

from dataclasses import dataclass

from common import error_types


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence each."""

    why: str
    next_step: str


WAIT = "Wait a moment, then try again."
ASK = "Ask who runs this service."
BUG = "Try again; if it comes back, tell who runs this service the moment and the address."

OF_TASKS = {
    error_types.CONTENT_REJECTED.name: Advice(
        "The provider's policy does not allow the prompt, an input picture, or what came of them.",
        "Change the prompt or the pictures and run it again; the same request would be refused again.",
    ),
    error_types.UPSTREAM_REJECTED.name: Advice(
        "The provider does not take this combination of fields.",
        "Change the size, the length or the inputs and run it again; the same request would be refused again.",
    ),
    error_types.INPUT_UNREACHABLE.name: Advice(
        "An input's address did not answer, asks for a sign-in, or has expired.",
        "Open the address in a private window; upload the file here instead, or give one that anybody may fetch.",
    ),
    error_types.UPSTREAM_ERROR.name: Advice(
        "The provider had a fault of its own, and every other way was tried.",
        "Run it again in a few minutes: the request itself is good.",
    ),
    error_types.OUTCOME_UNKNOWN.name: Advice(
        "The connection to the provider was lost after the request was sent, so nobody knows whether it ran.",
        "Run it again if you still need it.",
    ),
    error_types.STORAGE_UNAVAILABLE.name: Advice(
        "The place where files are kept was away when the result came.",
        "Run it again in a few minutes.",
    ),
    error_types.NO_CAPABLE_ROUTE.name: Advice(
        "The last provider that could run it was taken out of service while it waited.",
        "Run it again: if a model can take it now, it is accepted; else choose another one.",
    ),
    error_types.TIMEOUT.name: Advice(
        "It waited or ran longer than a task of its kind may.",
        "Run it again, at a quieter time or with another model.",
    ),
    error_types.INTERNAL_ERROR.name: Advice(
        "A fault of this service, not of your request.",
        "Run it again, and if it fails again, tell who runs this service the task's id.",
    ),
}
UNKNOWN = Advice("This kind of error is new to this page.", f"Read its message. {ASK}")

OF_REQUESTS = {
    error_types.AUTHENTICATION_ERROR.name: Advice(
        "The key is missing, wrong, expired or disabled.", "Sign in with a valid key."
    ),
    "permission_error": Advice("The key is good, but not for this.", "Use a key of the other kind."),
    "rate_limit_error": Advice("The model's providers rest after too many requests.", WAIT),
    "overloaded_error": Advice("No provider of the model can be reached now.", WAIT),
    "api_error": Advice("The provider's answer was lost.", "Nothing was charged; ask again if you still need it."),
    "timeout_error": Advice("The provider took too long.", "Nothing was charged; ask again if you still need it."),
    "insufficient_quota": Advice(
        "The balance or a budget is under what the call may cost.", "Top up, or set a lower limit of the output."
    ),
    "invalid_request_error": Advice("The way of asking is not served here.", "Look at the reference for what is."),
    "not_found_error": Advice("The key's platform does not have it.", "Look at the reference for what it has."),
    error_types.SCOPE_REQUIRED.name: Advice("The key is not one for tasks.", "Use a key that begins with dr-task-."),
    error_types.BILLING_UNSUPPORTED.name: Advice("The account pays by subscription.", f"Tasks need a balance. {ASK}"),
    error_types.INSUFFICIENT_BALANCE.name: Advice(
        "The balance, less what running tasks hold, is under the price.", "Top up, or choose a cheaper size or length."
    ),
    error_types.INVALID_REQUEST.name: Advice(
        "A field is missing or has a value that is not allowed.", "Mend what is named."
    ),
    error_types.UNSUPPORTED_MODEL.name: Advice(
        "No model of this name is on offer to the key.", "Choose one from the list."
    ),
    error_types.UNSUPPORTED_ADAPTER.name: Advice(
        "The model cannot make this kind of thing.", "Choose a model of that kind."
    ),
    error_types.NO_CAPABLE_ROUTE.name: Advice(
        "No provider of the model takes this combination of fields.", "Leave out the field that is named, or change it."
    ),
    error_types.PRICING_UNAVAILABLE.name: Advice("There is no price for this size or length.", "Choose another one."),
    error_types.STORAGE_UNAVAILABLE.name: Advice("The place where files are kept is away.", WAIT),
    error_types.QUEUE_LIMIT_EXCEEDED.name: Advice(
        "As many tasks wait as may.", "Wait until some have ended, or cancel some."
    ),
    error_types.NOT_FOUND.name: Advice(
        "It may be another key's, or be gone.", "Look for it in the gallery or in the live list."
    ),
    error_types.REQUEST_TOO_LARGE.name: Advice(
        "The request with its files is too large.", "Use smaller files, or addresses."
    ),
    error_types.RATE_LIMITED.name: Advice("Too many requests came in a short time.", WAIT),
    error_types.STREAM_LIMIT_EXCEEDED.name: Advice(
        "Too many pages of the key are live.", "Close a tab, then load this again."
    ),
    error_types.API_PAUSED.name: Advice("New tasks are paused; those that wait or run go on.", "Try again later."),
    error_types.API_DISABLED.name: Advice("The service for tasks is switched off.", f"Try again later. {ASK}"),
    error_types.NOT_CANCELABLE.name: Advice("Only what still waits can be canceled.", "Wait until it has ended."),
    error_types.NOT_REDELIVERABLE.name: Advice(
        "A callback is sent when its task has ended, to the address that the request named.",
        "Wait for the end of the task, or name a callback_url in the next request.",
    ),
    error_types.ASSET_IN_USE.name: Advice(
        "A task that runs or waits takes the file.", "Delete it when that task has ended."
    ),
    error_types.ASSET_EXPIRED.name: Advice(
        "Files are deleted after a while.", "Run the request again to make it anew."
    ),
    error_types.ASSET_URL_INVALID.name: Advice("Addresses of files expire.", "Load the page again for a fresh one."),
    error_types.RANGE_NOT_SATISFIABLE.name: Advice("The file is shorter than that.", "Ask for the whole file."),
    error_types.METHOD_NOT_ALLOWED.name: Advice("The address takes other methods.", "Look at the reference."),
    error_types.UNSUPPORTED_MEDIA_TYPE.name: Advice("The body is of a type that is not read.", "Send JSON."),
    error_types.INTERNAL_ERROR.name: Advice("A fault of this service, not of your request.", BUG),
    error_types.SERVICE_UNAVAILABLE.name: Advice("A part that everything stands on is away.", WAIT),
    error_types.TIMEOUT.name: Advice(
        "It takes longer than one may wait; the task goes on.", "Look at it in the live list."
    ),
}


def of_task(error_type: str) -> Advice:
    return OF_TASKS.get(error_type, UNKNOWN)


def of_request(error_type: str) -> Advice:
    return OF_REQUESTS.get(error_type, UNKNOWN)
