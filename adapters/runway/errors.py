"""What Runway's failure codes and the words of its HTTP errors mean.

Facts: the pages on errors and task failures of Runway's documentation.
"""

import re

from adapters.base import ErrorKind, UpstreamError

# The codes of failed tasks, by their beginning. A file that could be fetched but not used is the caller's to change.
CODES = {
    "SAFETY": ErrorKind.CONTENT_POLICY,
    "INPUT_PREPROCESSING.SAFETY": ErrorKind.CONTENT_POLICY,
    "ASSET.INVALID": ErrorKind.INVALID_REQUEST,
    "THIRD_PARTY.INPUT_VALIDATION": ErrorKind.INVALID_REQUEST,
    "INPUT_PREPROCESSING": ErrorKind.PROVIDER_FAILED,
    "INTERNAL": ErrorKind.PROVIDER_FAILED,
    "THIRD_PARTY": ErrorKind.PROVIDER_FAILED,
}
# What a refused submission says in words alone. Anchored where the channel is at stake: a text may quote the prompt.
WORDS = {
    re.compile(
        r"model (variant )?\S{1,100} (is not available|does not exist)\b", re.IGNORECASE
    ): ErrorKind.MODEL_UNAVAILABLE,
    re.compile(r"you do not have enough credits\b", re.IGNORECASE): ErrorKind.QUOTA_EXHAUSTED,
    re.compile(r".*content moderation", re.IGNORECASE): ErrorKind.CONTENT_POLICY,
}
GONE = re.compile(r"\btask\b.*\b(not (be )?found|not exist|deleted)", re.IGNORECASE)


def kind_of(code: str) -> ErrorKind | None:
    """What a failure code means; None for one that is not documented."""
    return next((meaning for start, meaning in CODES.items() if f"{code}.".startswith(f"{start}.")), None)


def is_unknown_task(error: UpstreamError) -> bool:
    """Only in words about a task: a proxy's 404 says nothing about the job."""
    return error.http_status == 404 and GONE.search(error.message) is not None


def told_by(error: UpstreamError) -> ErrorKind:
    """The kind of a refused submission, by its text too."""
    if error.kind not in (ErrorKind.INVALID_REQUEST, ErrorKind.FORBIDDEN):
        return error.kind
    return next((kind for words, kind in WORDS.items() if words.match(error.message)), error.kind)
