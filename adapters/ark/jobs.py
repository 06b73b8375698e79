"""Asking for the jobs of `ark_content_tasks`, in whatever dialect the channel speaks."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote, urlencode

from adapters.ark.dialects import Dialect, Document, dialect_of
from adapters.base import Connection, ErrorKind, UpstreamError
from adapters.kit.http import HttpCall, call_json
from adapters.kit.jobs import asking


def call(dialect: Dialect, method: str, path: str, **more: Any) -> HttpCall:
    """A request in the dialect's terms."""
    terms: dict[str, Any] = {"codes": dialect.codes, "spoken": dialect.spoken, "shape": dialect.shape}
    return HttpCall(method=method, path=path, **terms, **more)


def below(path: str, job_id: str) -> str:
    """The path of one job."""
    return f"{path}/{quote(job_id, safe='')}"


def find_all(ids: Sequence[str], connection: Connection) -> dict[str, Document | UpstreamError]:
    """One list call for many jobs. A job that the list does not show is asked for by itself: lists lag, and reach back
    a few days only. A fault met while asking stands for all that is still unknown."""
    jobs: dict[str, Document | UpstreamError] = dict(_listed(ids, connection)) if len(ids) > 1 else {}
    for missing in [job_id for job_id in ids if job_id not in jobs]:
        try:
            jobs[missing] = find(missing, connection)
        except UpstreamError as error:
            jobs[missing] = error
            if error.kind is not ErrorKind.EMPTY_RESULT:
                return {**dict.fromkeys(ids, error), **jobs}
    return jobs


def _listed(ids: Sequence[str], connection: Connection) -> dict[str, Document]:
    """The jobs that the provider lists, by id; none where it has no list. Raises UpstreamError."""
    dialect = dialect_of(connection.options)
    query = [("page_num", 1), ("page_size", len(ids)), *(("filter.task_ids", job_id) for job_id in ids)]
    try:
        items = call_json(call(dialect, "GET", f"{dialect.query}?{urlencode(query)}"), connection).get("items")
    except UpstreamError as error:
        if error.kind in (ErrorKind.INVALID_REQUEST, ErrorKind.MODEL_UNAVAILABLE):
            return {}
        raise
    jobs = [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return {str(job.get("id")): job for job in jobs if isinstance(job.get("status"), str)}


def find(job_id: str, connection: Connection) -> Document:
    """One job. Raises UpstreamError: EMPTY_RESULT if the provider says that there is none, else a poll fault."""
    dialect = dialect_of(connection.options)

    def is_usable(document: Document) -> bool:
        job = dialect.job_of(document)
        return isinstance(job, dict) and isinstance(job.get("status"), str)

    with asking(dialect.is_unknown_job):
        document = call_json(call(dialect, "GET", below(dialect.query, job_id)), connection, is_usable)
    job: Document = dialect.job_of(document)  # type: ignore[assignment]
    return job
