"""What the protocols with jobs share: ids, lengths, progress, what a failed poll says, and how a job ends."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeGuard

from adapters.base import ENDS_JOB, Connection, Done, ErrorKind, Output, Reported, UpstreamError
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import without_credentials
from adapters.kit.outputs import is_url
from adapters.kit.reports import number_of

LONGEST_ID = 1024
LONGEST_SECONDS = 86_400
NOTHING = Reported()
NO_VIDEO = "the job succeeded without a video"


def is_id(value: object) -> TypeGuard[str]:
    """Whether a text can name a job."""
    return isinstance(value, str) and 0 < len(value) <= LONGEST_ID and value.isascii() and value.isprintable()


def id_of(value: object) -> str:
    """A provider's name for a job, some of which are numbers; empty for what is none."""
    name = str(value) if isinstance(value, int) and not isinstance(value, bool) and value > 0 else value
    return name if is_id(name) else ""


@contextmanager
def asking(is_unknown: Callable[[UpstreamError], bool] = lambda error: False) -> Iterator[None]:
    """A question about a job. Raises UpstreamError: EMPTY_RESULT where `is_unknown` finds that the provider says in its
    own words that it has no such job, else a poll fault."""
    try:
        yield
    except UpstreamError as error:
        raise poll_fault(error, is_unknown=is_unknown(error)) from error


def poll_fault(error: UpstreamError, *, is_unknown: bool) -> UpstreamError:
    """What an error that was met while asking says about the job: nothing, unless it is unknown. A proxy's refusal must
    not end a job, and a question buys nothing that could be left open."""
    if is_unknown:
        return error.as_kind(ErrorKind.EMPTY_RESULT)
    is_fault = error.kind not in ENDS_JOB and error.kind is not ErrorKind.AMBIGUOUS
    return error.as_kind(error.kind if is_fault else ErrorKind.TRANSIENT)


def film(url: str, duration: float | None = None, reported: Reported = NOTHING) -> Done:
    """The end of a job that made one video."""
    return Done(outputs=(Output(index=0, kind="video", url=url),), duration=duration, reported=reported)


def film_told(url: object, duration: float | None, reported: Reported = NOTHING) -> Done | UpstreamError:
    """The same where the provider tells the address, which may be missing."""
    return film(url, duration, reported) if is_url(url) else UpstreamError(ErrorKind.EMPTY_RESULT, NO_VIDEO)


def failure(kind: ErrorKind, spoken: SpokenError, connection: Connection, otherwise: str) -> UpstreamError:
    """The bad end of a job in the provider's words; `otherwise` where it has none."""
    said = without_credentials(spoken, connection)
    return UpstreamError(kind, said.message or otherwise, code=said.code)


def seconds_of(value: object) -> float | None:
    """A length that a provider reports, as a number or a text such as 3.5 or 3.5s; None for no sane number of
    seconds."""
    seconds = number_of(value.strip().removesuffix("s") if isinstance(value, str) else value)
    return seconds if seconds is not None and 0 < seconds <= LONGEST_SECONDS else None


def percent_of(value: object, *, whole: int = 100) -> int | None:
    """A provider's progress from 0 to `whole`; None for what is no such number."""
    is_share = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= whole
    return int(value * 100 / whole) if is_share else None  # type: ignore[operator]
