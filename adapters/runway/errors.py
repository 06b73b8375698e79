"""What Runway's failure codes and the words of its HTTP errors mean.

Facts: the pages on errors and task failures of Runway's documentation.
"""

import re

from adapters.base import ErrorKind, UpstreamError
from adapters.kit.error_kinds import Meaning

# The codes of failed tasks, by their beginning. A file that could be fetched but not used is the caller's to change.
CODES = {
    "SAFETY": Meaning(ErrorKind.CONTENT_POLICY),
    "INPUT_PREPROCESSING.SAFETY": Meaning(ErrorKind.CONTENT_POLICY),
    "ASSET.INVALID": Meaning(ErrorKind.INVALID_REQUEST),
    "THIRD_PARTY.INPUT_VALIDATION": Meaning(ErrorKind.INVALID_REQUEST),
    "INPUT_PREPROCESSING": Meaning(ErrorKind.PROVIDER_FAILED),
    "INTERNAL": Meaning(ErrorKind.PROVIDER_FAILED),
    "THIRD_PARTY": Meaning(ErrorKind.PROVIDER_FAILED),
}
# What a 400 at submission may say that is more than a bad request. Anchored where the channel is at stake: a text may
# quote the prompt.
WORDS = {
    re.compile(r"you do not have enough credits\b", re.IGNORECASE): ErrorKind.QUOTA_EXHAUSTED,
    re.compile(r".*content moderation", re.IGNORECASE): ErrorKind.CONTENT_POLICY,
}
GONE = re.compile(r"\btask\b.*\b(not (be )?found|not exist|deleted)", re.IGNORECASE)


def meaning_of(code: str) -> Meaning | None:
    """What a failure code means; None for one that is not documented."""
    return next((meaning for start, meaning in CODES.items() if f"{code}.".startswith(f"{start}.")), None)


def is_unknown_task(error: UpstreamError) -> bool:
    """Only in words about a task: a proxy's 404 says nothing about the job."""
    return error.http_status == 404 and GONE.search(error.message) is not None


def kind_of(error: UpstreamError) -> ErrorKind:
    """What a refused submission means, by its text too."""
    if error.kind is not ErrorKind.INVALID_REQUEST:
        return error.kind
    return next((kind for words, kind in WORDS.items() if words.match(error.message)), error.kind)
