"""Every type of the Task API's errors, declared once: its name, its HTTP statuses, and what documents say of it.

`common/errors.py` has the exception classes of those that a request is refused with, `tasks/failures.py` what a task
says that ended with one. The OpenAPI document, the tables of `docs/interface.md` and the OpenAI dialect are made of
these declarations.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorType:
    """One type. A refused request has one of `statuses`, the usual one first; `when` and `next_step` tell of it where
    the Task API refuses with this type. `of_task` tells why a task ended with it, where tasks do, and `ended_status` is
    the HTTP status of a call that waited for such a task."""

    name: str
    statuses: tuple[int, ...] = ()
    when: str = ""
    next_step: str = ""
    of_task: str = ""
    ended_status: int = 503


AUTHENTICATION_ERROR = ErrorType(
    name="authentication_error",
    statuses=(401,),
    when="The key is missing or invalid.",
    next_step="Look whether the whole key was sent, as `Authorization: Bearer …`. It may have been disabled: ask your "
    "operator.",
)
SCOPE_REQUIRED = ErrorType(
    name="TASK_SCOPE_REQUIRED",
    statuses=(403,),
    when="The key is not for the Task API.",
    next_step="Use a key that begins with `dr-task-`.",
)
BILLING_UNSUPPORTED = ErrorType(
    name="TASK_BILLING_UNSUPPORTED",
    statuses=(403,),
    when="The account is on subscription billing.",
    next_step="Ask your operator for an account with a balance.",
)
INSUFFICIENT_BALANCE = ErrorType(
    name="TASK_INSUFFICIENT_BALANCE",
    statuses=(403,),
    when="What is available, or what is left of a budget, does not cover the estimate.",
    next_step="Add to the balance, wait for the budget's next window, or ask for less.",
)
INVALID_REQUEST = ErrorType(
    name="TASK_INVALID_REQUEST",
    statuses=(400, 414, 431, 501),
    when="The body, a field, a parameter or a header is wrong; the message names it. 414: the request line is too "
    "long, 431: the headers are too large, 501: a transfer coding other than chunked.",
    next_step="Mend what the message names, and send it again.",
)
UNSUPPORTED_MODEL = ErrorType(
    name="TASK_UNSUPPORTED_MODEL",
    statuses=(400,),
    when="The model is unknown, or not available to this key.",
    next_step="Take a name from `GET /v1/tasks/models`.",
)
UNSUPPORTED_ADAPTER = ErrorType(
    name="TASK_UNSUPPORTED_ADAPTER",
    statuses=(400,),
    when="The model does not run this modality, or nothing runs it yet.",
    next_step="Take another model, or another modality.",
)
NO_CAPABLE_ROUTE = ErrorType(
    name="TASK_NO_CAPABLE_ROUTE",
    statuses=(400,),
    when="No route supports this combination; the message names the fields that ruled routes out, each with the "
    "reason.",
    next_step="Change or leave out the fields that it names.",
    of_task="the last route was removed",
)
NOT_FOUND = ErrorType(
    name="TASK_NOT_FOUND",
    statuses=(404,),
    when="No such task, asset or path, or it is not yours.",
    next_step="Look at the id, and at the key: each sees only its own.",
)
METHOD_NOT_ALLOWED = ErrorType(
    name="TASK_METHOD_NOT_ALLOWED",
    statuses=(405,),
    when="The path does not take this method; `Allow` lists those that it takes.",
    next_step="Take one that the header `Allow` lists.",
)
NOT_CANCELABLE = ErrorType(
    name="TASK_NOT_CANCELABLE",
    statuses=(409,),
    when="The task is running or has ended otherwise; of its files: it has not ended.",
    next_step="Wait for its end.",
)
NOT_REDELIVERABLE = ErrorType(
    name="TASK_NOT_REDELIVERABLE",
    statuses=(409,),
    when="The task has not ended, or has no `callback_url`.",
    next_step="Wait for its end, or read the task.",
)
ASSET_EXPIRED = ErrorType(
    name="TASK_ASSET_EXPIRED",
    statuses=(410,),
    when="The bytes were deleted, by you or after their retention.",
    next_step="Nothing brings them back: run the task again.",
)
ASSET_IN_USE = ErrorType(
    name="TASK_ASSET_IN_USE",
    statuses=(409,),
    when="A task of yours that has not ended takes one of the files by reference.",
    next_step="Cancel that task, or wait for its end.",
)
REQUEST_TOO_LARGE = ErrorType(
    name="TASK_REQUEST_TOO_LARGE",
    statuses=(413,),
    when="The body is over the limit.",
    next_step="Send inputs as URLs instead of Data URLs.",
)
UNSUPPORTED_MEDIA_TYPE = ErrorType(
    name="TASK_UNSUPPORTED_MEDIA_TYPE",
    statuses=(415,),
    when="The body is not plain JSON in UTF-8.",
    next_step="Send `Content-Type: application/json`.",
)
RANGE_NOT_SATISFIABLE = ErrorType(
    name="TASK_RANGE_NOT_SATISFIABLE",
    statuses=(416,),
    when="The asset has no such bytes.",
    next_step="Ask for a range within its size, which `Content-Range` tells.",
)
ASSET_URL_INVALID = ErrorType(
    name="TASK_ASSET_URL_INVALID",
    statuses=(403,),
    when="A signed link is wrong or has expired.",
    next_step="Read the task: it has fresh links.",
)
RATE_LIMITED = ErrorType(
    name="TASK_RATE_LIMITED",
    statuses=(429,),
    when="Too many requests within a minute; with `RateLimit-Limit`, `-Remaining` and `-Reset`.",
    next_step="Wait for `Retry-After`, then send it again.",
)
QUEUE_LIMIT_EXCEEDED = ErrorType(
    name="TASK_QUEUE_LIMIT_EXCEEDED",
    statuses=(429,),
    when="Too many queued tasks of the key or the account; with a `callback_url`: 10,000 callbacks of the account "
    "that were never attempted; with Data URLs or uploads: too many bytes of them in the account's live tasks"
    " (2 GiB, or what the operator has set). The message says which.",
    next_step="Wait until some of your tasks have ended, then send it again.",
)
STREAM_LIMIT_EXCEEDED = ErrorType(
    name="TASK_STREAM_LIMIT_EXCEEDED",
    statuses=(429,),
    when="More than 5 event streams of one key are open.",
    next_step="Close one: one stream tells of all tasks of the key.",
)
PRICING_UNAVAILABLE = ErrorType(
    name="TASK_PRICING_UNAVAILABLE",
    statuses=(503,),
    when="There is no price for these parameters.",
    next_step="Take other parameters, or ask your operator.",
)
STORAGE_UNAVAILABLE = ErrorType(
    name="TASK_STORAGE_UNAVAILABLE",
    statuses=(503,),
    when="Asset storage is away.",
    next_step="Send it again after `Retry-After`.",
    of_task="the files could not be stored",
)
API_PAUSED = ErrorType(
    name="TASK_API_PAUSED",
    statuses=(503,),
    when="No submissions for now; everything else goes on.",
    next_step="Send it again after `Retry-After`.",
)
API_DISABLED = ErrorType(
    name="TASK_API_DISABLED",
    statuses=(503,),
    when="The Task API is switched off.",
    next_step="Ask your operator.",
)
SERVICE_UNAVAILABLE = ErrorType(
    name="TASK_SERVICE_UNAVAILABLE",
    statuses=(503,),
    when="A part that the service needs is away, or there are too many connections.",
    next_step="Send it again after `Retry-After`, with the same `Idempotency-Key`.",
)
INTERNAL_ERROR = ErrorType(
    name="TASK_INTERNAL_ERROR",
    statuses=(500,),
    when="The fault is ours; quote the `X-Request-Id`.",
    next_step="Send it again with the same `Idempotency-Key`. If it stays, give the operator the `X-Request-Id`.",
    of_task="our fault",
    ended_status=500,
)
CONTENT_REJECTED = ErrorType(
    name="TASK_CONTENT_REJECTED",
    of_task="moderation refused it",
    ended_status=400,
)
UPSTREAM_REJECTED = ErrorType(
    name="TASK_UPSTREAM_REJECTED",
    of_task="the provider refuses this request",
    ended_status=400,
)
INPUT_UNREACHABLE = ErrorType(
    name="TASK_INPUT_UNREACHABLE",
    of_task="an input's address does not give it, or an asset of yours was deleted",
    ended_status=400,
)
UPSTREAM_ERROR = ErrorType(
    name="TASK_UPSTREAM_ERROR",
    of_task="the provider failed, or none is available",
)
OUTCOME_UNKNOWN = ErrorType(
    name="TASK_OUTCOME_UNKNOWN",
    of_task="the provider may have run it; it is not charged",
)
TIMEOUT = ErrorType(
    name="TASK_TIMEOUT",
    statuses=(504,),
    of_task="it was not done in time",
    ended_status=504,
)
CANCELED = ErrorType(
    name="TASK_CANCELED",
    ended_status=400,
)

TABLE: tuple[ErrorType, ...] = tuple(value for value in list(vars().values()) if isinstance(value, ErrorType))
REFUSALS = tuple(each for each in TABLE if each.when)
FAILURES = (
    CONTENT_REJECTED,
    UPSTREAM_REJECTED,
    INPUT_UNREACHABLE,
    UPSTREAM_ERROR,
    OUTCOME_UNKNOWN,
    STORAGE_UNAVAILABLE,
    NO_CAPABLE_ROUTE,
    TIMEOUT,
    INTERNAL_ERROR,
)
"""Those that tasks end with, in the order of the documents."""
BY_NAME = {each.name: each for each in TABLE}


def ended_status(name: str) -> int:
    """The HTTP status of a call whose task ended with this type; a type of another version is 503."""
    found = BY_NAME.get(name)
    return found.ended_status if found else 503
