"""Every error of the interface in words: why it came, and what to do next. What happened is its own message."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence each."""

    why: str
    next_step: str


WAIT = "Wait a moment, then try again."
ASK = "Ask who runs this service."
BUG = "Try again; if it comes back, tell who runs this service the moment and the address."

OF_TASKS = {
    "TASK_CONTENT_REJECTED": Advice(
        "The provider's policy does not allow the prompt, an input picture, or what came of them.",
        "Change the prompt or the pictures and run it again; the same request would be refused again.",
    ),
    "TASK_UPSTREAM_REJECTED": Advice(
        "The provider does not take this combination of fields.",
        "Change the size, the length or the inputs and run it again; the same request would be refused again.",
    ),
    "TASK_INPUT_UNREACHABLE": Advice(
        "An input's address did not answer, asks for a sign-in, or has expired.",
        "Open the address in a private window; upload the file here instead, or give one that anybody may fetch.",
    ),
    "TASK_UPSTREAM_ERROR": Advice(
        "The provider had a fault of its own, and every other way was tried.",
        "Run it again in a few minutes: the request itself is good.",
    ),
    "TASK_OUTCOME_UNKNOWN": Advice(
        "The connection to the provider was lost after the request was sent, so nobody knows whether it ran.",
        "Run it again if you still need it.",
    ),
    "TASK_STORAGE_UNAVAILABLE": Advice(
        "The place where files are kept was away when the result came.",
        "Run it again in a few minutes.",
    ),
    "TASK_NO_CAPABLE_ROUTE": Advice(
        "The last provider that could run it was taken out of service while it waited.",
        "Run it again: if a model can take it now, it is accepted; else choose another one.",
    ),
    "TASK_TIMEOUT": Advice(
        "It waited or ran longer than a task of its kind may.",
        "Run it again, at a quieter time or with another model.",
    ),
    "TASK_INTERNAL_ERROR": Advice(
        "A fault of this service, not of your request.",
        "Run it again, and if it fails again, tell who runs this service the task's id.",
    ),
}
UNKNOWN = Advice("This kind of error is new to this page.", f"Read its message. {ASK}")

OF_REQUESTS = {
    "authentication_error": Advice("The key is missing, wrong, expired or disabled.", "Sign in with a valid key."),
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
    "TASK_SCOPE_REQUIRED": Advice("The key is not one for tasks.", "Use a key that begins with dr-task-."),
    "TASK_BILLING_UNSUPPORTED": Advice("The account pays by subscription.", f"Tasks need a balance. {ASK}"),
    "TASK_INSUFFICIENT_BALANCE": Advice(
        "The balance, less what running tasks hold, is under the price.", "Top up, or choose a cheaper size or length."
    ),
    "TASK_INVALID_REQUEST": Advice("A field is missing or has a value that is not allowed.", "Mend what is named."),
    "TASK_UNSUPPORTED_MODEL": Advice("No model of this name is on offer to the key.", "Choose one from the list."),
    "TASK_UNSUPPORTED_ADAPTER": Advice("The model cannot make this kind of thing.", "Choose a model of that kind."),
    "TASK_NO_CAPABLE_ROUTE": Advice(
        "No provider of the model takes this combination of fields.", "Leave out the field that is named, or change it."
    ),
    "TASK_PRICING_UNAVAILABLE": Advice("There is no price for this size or length.", "Choose another one."),
    "TASK_STORAGE_UNAVAILABLE": Advice("The place where files are kept is away.", WAIT),
    "TASK_QUEUE_LIMIT_EXCEEDED": Advice("As many tasks wait as may.", "Wait until some have ended, or cancel some."),
    "TASK_NOT_FOUND": Advice("It may be another key's, or be gone.", "Look for it in the gallery or in the live list."),
    "TASK_REQUEST_TOO_LARGE": Advice("The request with its files is too large.", "Use smaller files, or addresses."),
    "TASK_RATE_LIMITED": Advice("Too many requests came in a short time.", WAIT),
    "TASK_STREAM_LIMIT_EXCEEDED": Advice("Too many pages of the key are live.", "Close a tab, then load this again."),
    "TASK_API_PAUSED": Advice("New tasks are paused; those that wait or run go on.", "Try again later."),
    "TASK_API_DISABLED": Advice("The service for tasks is switched off.", f"Try again later. {ASK}"),
    "TASK_NOT_CANCELABLE": Advice("Only what still waits can be canceled.", "Wait until it has ended."),
    "TASK_NOT_REDELIVERABLE": Advice(
        "A callback is sent when its task has ended, to the address that the request named.",
        "Wait for the end of the task, or name a callback_url in the next request.",
    ),
    "TASK_ASSET_IN_USE": Advice("A task that runs or waits takes the file.", "Delete it when that task has ended."),
    "TASK_ASSET_EXPIRED": Advice("Files are deleted after a while.", "Run the request again to make it anew."),
    "TASK_ASSET_URL_INVALID": Advice("Addresses of files expire.", "Load the page again for a fresh one."),
    "TASK_RANGE_NOT_SATISFIABLE": Advice("The file is shorter than that.", "Ask for the whole file."),
    "TASK_METHOD_NOT_ALLOWED": Advice("The address takes other methods.", "Look at the reference."),
    "TASK_UNSUPPORTED_MEDIA_TYPE": Advice("The body is of a type that is not read.", "Send JSON."),
    "TASK_INTERNAL_ERROR": Advice("A fault of this service, not of your request.", BUG),
    "TASK_SERVICE_UNAVAILABLE": Advice("A part that everything stands on is away.", WAIT),
    "TASK_TIMEOUT": Advice("It takes longer than one may wait; the task goes on.", "Look at it in the live list."),
}


def of_task(error_type: str) -> Advice:
    return OF_TASKS.get(error_type, UNKNOWN)


def of_request(error_type: str) -> Advice:
    return OF_REQUESTS.get(error_type, UNKNOWN)
