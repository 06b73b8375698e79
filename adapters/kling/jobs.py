"""The jobs of the Kling protocol as its two generations show them, asked for in batches or one by one.

The newer one answers many at `/tasks` and leaves out what it does not know; the older one answers one at the path that
the job was submitted to.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from adapters.base import ENDS_JOB, Connection, Done, ErrorKind, Reported, UpstreamError, text
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import HttpCall, call_json
from adapters.kit.jobs import asking, failure, film_told, id_of, seconds_of
from adapters.kling.errors import CODES

TASKS = "/tasks"


LAST_FRAME_SECONDS = 0.1


class KlingJob(NamedTuple):
    """`video` is the first of so many `videos` of the result, where there is one: `{url, duration}`."""

    id: str
    status: str
    message: str
    external_id: str
    video: Mapping[str, Any]
    videos: int = 0


def listed(query: Mapping[str, str], connection: Connection) -> list[KlingJob]:
    """The jobs of the newer generation that a query finds. Raises UpstreamError."""
    return list(filter(None, map(_newer, _items(query, connection))))


def batch(ids: Sequence[str], connection: Connection) -> dict[str, KlingJob]:
    """The jobs that one request shows, by id; none where the provider refuses the batch. Raises UpstreamError."""
    try:
        return {job.id: job for job in listed({"task_ids": ",".join(ids)}, connection)}
    except UpstreamError as error:
        if error.kind in ENDS_JOB:
            return {}
        raise


def one(path: str, name: str, connection: Connection) -> KlingJob:
    """A job by its id (by our own name for it also in the older generation). Raises UpstreamError: EMPTY_RESULT if the
    provider says that there is none, else a poll fault."""
    with asking(is_unknown):
        found = _older_one(path, name, connection) if path != TASKS else _newer_one(name, connection)
    if found is None:
        raise UpstreamError(ErrorKind.EMPTY_RESULT, "the provider does not show the job (any more)")
    return found


def is_unknown(error: UpstreamError) -> bool:
    """Whether the provider says, in its own words, that a job is not there."""
    return error.code in ("1201", "1203") and "not found" in error.message.lower()


def ended(job: KlingJob, connection: Connection) -> Done | UpstreamError | None:
    """How a job ended, None while it has not."""
    if job.status in ("succeeded", "succeed"):
        reported = Reported(count=job.videos or None)
        return film_told(job.video.get("url"), _sold_seconds(job.video.get("duration")), reported)
    if job.status != "failed":
        return None
    # Failed jobs have a text and no code.
    is_content = "risk control" in job.message.lower()
    kind = ErrorKind.CONTENT_POLICY if is_content else ErrorKind.PROVIDER_FAILED
    return failure(kind, SpokenError(message=job.message), connection, "the job failed")


def _sold_seconds(value: object) -> float | None:
    """The length that is sold: films of whole seconds are reported with their last frame on top, such as 5.041."""
    seconds = seconds_of(value)
    if seconds is None or seconds < 1 or seconds % 1 > LAST_FRAME_SECONDS:
        return seconds
    return float(int(seconds))


def _newer_one(name: str, connection: Connection) -> KlingJob | None:
    """None where it is not listed. Raises UpstreamError: a job that cannot be read is not gone."""
    jobs = [_newer(item) for item in _items({"task_ids": name}, connection)]
    found = next((job for job in jobs if job and job.id == name), None)
    if found is None and None in jobs:
        raise UpstreamError(ErrorKind.TRANSIENT, "the answer cannot be read")
    return found


def _items(query: Mapping[str, str], connection: Connection) -> list[Any]:
    call = HttpCall(method="GET", path=f"{TASKS}?{urlencode(query, safe=',')}", codes=CODES.get)
    answer = call_json(call, connection, lambda answer: not answer.get("code") and isinstance(answer.get("data"), list))
    items: list[Any] = answer["data"]
    return items


def _older_one(path: str, name: str, connection: Connection) -> KlingJob | None:
    call = HttpCall(method="GET", path=f"{path}/{quote(name, safe='')}", codes=CODES.get)
    return _older(call_json(call, connection, lambda answer: _older(answer.get("data")) is not None)["data"])


def _newer(item: Any) -> KlingJob | None:
    if not isinstance(item, dict):
        return None
    videos = [each for each in _objects(item.get("outputs")) if each.get("type") == "video"]
    return _job(item.get("id"), item.get("status"), item.get("message"), item.get("external_id"), videos)


def _older(data: Any) -> KlingJob | None:
    if not isinstance(data, dict):
        return None
    result, info = data.get("task_result"), data.get("task_info")
    videos = _objects(result.get("videos")) if isinstance(result, dict) else []
    external_id = info.get("external_task_id") if isinstance(info, dict) else None
    return _job(data.get("task_id"), data.get("task_status"), data.get("task_status_msg"), external_id, videos)


def _job(
    job_id: object, status: object, message: object, name: object, videos: list[dict[str, Any]]
) -> KlingJob | None:
    known_as = id_of(job_id)
    if not known_as or not isinstance(status, str):
        return None
    return KlingJob(known_as, status, text(message), text(name), videos[0] if videos else {}, len(videos))


def _objects(items: object) -> list[dict[str, Any]]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
