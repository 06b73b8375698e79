"""The dialects of `ark_content_tasks`: providers that share its jobs and differ in paths, envelopes and errors."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.ark import errors, minimax_errors, minimax_request, reported, video_fields, videos_request
from adapters.base import (
    ErrorKind,
    Reported,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import http, prompt_commands
from adapters.kit.error_kinds import Codes, spoken_error
from adapters.kit.error_shapes import Shape, error_object

Document = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """`create` is the path to submit to and to delete at, `query` the one to ask at, for one job below it. `job_of`
    finds the job in the answer about one; `is_unknown_job` tells the provider's own words for "no such job"; `reported`
    reads what a finished job says of itself; `fields` and `prompt_command` are those of an adapter."""

    create: str
    query: str
    id_field: str
    video_field: str
    poll_seconds: float
    codes: Codes
    spoken: http.Spoken
    shape: Shape
    job_of: Callable[[Document], object]
    is_unknown_job: Callable[[UpstreamError], bool]
    reported: Callable[[Document], Reported]
    fields: Sequence[UpstreamField]
    prompt_command: Callable[[str], str | None]
    problems: Callable[[TaskRequest, Target], Iterator[Unsupported]]
    build: Callable[[TaskRequest, Target], UpstreamRequest]


def _is_unknown_at_ark(error: UpstreamError) -> bool:
    # Only in the protocol's own words, ResourceNotFound: a proxy's 404 says nothing about the job.
    is_model = errors.kind_of(error.code) is ErrorKind.MODEL_UNAVAILABLE
    return error.http_status == 404 and "NotFound" in error.code and not is_model


ARK = Dialect(
    create=videos_request.PATH,
    query=videos_request.PATH,
    id_field="id",
    video_field="video_url",
    poll_seconds=5.0,
    codes=errors.kind_of,
    spoken=spoken_error,
    shape=error_object,
    job_of=lambda document: document,
    is_unknown_job=_is_unknown_at_ark,
    reported=reported.of_ark,
    fields=video_fields.ARK,
    prompt_command=prompt_commands.seedance,
    problems=videos_request.problems,
    build=videos_request.build,
)
MINIMAX = Dialect(
    create=minimax_request.CREATE,
    query=minimax_request.QUERY,
    id_field="task_id",
    video_field="url",
    poll_seconds=10.0,
    codes=minimax_errors.CODES.get,
    spoken=minimax_errors.spoken,
    shape=minimax_errors.is_own,
    job_of=lambda document: document.get("task"),
    is_unknown_job=minimax_errors.is_unknown_job,
    reported=reported.of_minimax,
    fields=video_fields.MINIMAX_V2,
    prompt_command=lambda prompt: None,
    problems=minimax_request.problems,
    build=minimax_request.build,
)
DIALECTS = {"ark": ARK, "minimax_v2": MINIMAX}


def dialect_of(options: Mapping[str, Any]) -> Dialect:
    """The dialect that a channel's options name, `ark` without one."""
    return DIALECTS[options.get("dialect", "ark")]
