"""The Kling protocol: asynchronous video jobs, polled in batches, found again by our own name for them.

Facts: the provider's API documentation of 2026-09 (create, query by `task_ids` or `external_task_ids`, error codes) and
what the client `kling-api` 2.0 reports from live calls: at most 20 ids a query; an unknown id is absent from the
answer; a name that is taken is refused as 1201 "already exists"; the older generation says 1201 "Task not found by
id/external id".
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Pending,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.kit import checks, rules
from adapters.kit.http import bearer, call_json
from adapters.kit.jobs import id_of
from adapters.kit.shapes import Asynchronous, probing
from adapters.kling import errors, fields, jobs, legacy_request, request
from adapters.kling.auth import signed
from adapters.kling.jobs import TASKS, KlingJob

LEGACY_PROBE_PATH = f"{legacy_request.PATHS['text']}?pageNum=1&pageSize=1"
LEGACY_NAMES = {path.rpartition("/")[2]: path for path in legacy_request.PATHS.values()}


class KlingTasks(Asynchronous):
    """Adapter of `kling_tasks`. A handle is `{"id": …, "path": where its state is asked for}`."""

    protocol = "kling_tasks"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "Kling video generation, both generations of its API"
    error_codes = errors.CODES
    spoken = staticmethod(errors.spoken)
    capabilities = request.CAPABILITIES
    options = {"api": rules.one_of("v3", "v1"), "poll_seconds": rules.POLL_SECONDS}
    variants = ({}, {"api": "v1"})
    credential_sets = (("api_key",), ("access_key", "secret_key"))
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]] = "lookup"
    poll_batch = 20
    poll_seconds = 10.0
    probe_path = f"{TASKS}?task_ids=0"
    problems = staticmethod(request.problems)
    build = staticmethod(request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return fields.LEGACY if request.is_legacy(target.options) else fields.V3

    def authorize(self, connection: Connection) -> dict[str, str]:
        return bearer(signed(connection))

    def shape(self, document: Any) -> bool:
        return errors.is_own(document)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        call = self.paid(replace(upstream, body=request.named(upstream, connection.reference)))
        try:
            document = call_json(call, signed(connection), lambda answer: bool(_id_of(answer.get("data"))))
        except UpstreamError as error:
            if error.code != "1201" or "already exist" not in error.message.lower():
                raise
            # Nobody else uses this name: the job is there.
            raise error.as_kind(ErrorKind.AMBIGUOUS) from error
        return self._accepted(_id_of(document["data"]), upstream.path, connection)

    def find(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | None:
        name, is_legacy = connection.reference, upstream.path in LEGACY_NAMES.values()
        if not name:
            return None
        if is_legacy:
            found = _named(upstream.path, name, signed(connection))
        else:
            found = jobs.listed({"external_task_ids": name}, signed(connection))
        job = next((job for job in found if job.external_id == name), None)
        return self._accepted(job.id, upstream.path, connection) if job else None

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        """One request for all jobs of the newer generation. One that the answer does not show is asked for alone, as
        each of the older generation is; a fault met then stands for all that is still unknown."""
        connection = signed(connection)
        ids = [handle["id"] for handle in handles if handle["path"] == TASKS]
        shown = jobs.batch(ids, connection) if len(ids) > 1 else {}
        states: list[Pending | Done | UpstreamError] = []
        fault: UpstreamError | None = None
        for handle in handles:
            job = shown.get(handle["id"]) or fault or _job(handle, connection)
            if isinstance(job, UpstreamError):
                fault = None if job.kind is ErrorKind.EMPTY_RESULT else job
                states.append(job)
            else:
                states.append(jobs.ended(job, connection) or Pending(poll_after=self.poll_after(connection)))
        return states

    def probe(self, connection: Connection) -> None:
        """The two generations take different credentials, so each is asked for something of its own. Raises
        UpstreamError, also for a success whose body says otherwise."""
        path = LEGACY_PROBE_PATH if request.is_legacy(connection.options) else self.probe_path
        with probing():
            call_json(self.call("GET", path), signed(connection), lambda answer: answer.get("code") == 0)

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        """In the older generation the id follows the name of its endpoint: `text2video/123`."""
        if not request.is_legacy(target.options):
            return {**super().attach(upstream_id, target), "path": TASKS}
        name, _, job_id = upstream_id.partition("/")
        if name not in LEGACY_NAMES:
            raise ValueError(f"the endpoint belongs before the id: {', '.join(f'{name}/ID' for name in LEGACY_NAMES)}")
        return {**super().attach(job_id, target), "path": LEGACY_NAMES[name]}

    def _accepted(self, job_id: str, path: str, connection: Connection) -> Accepted:
        handle = {"id": job_id, "path": path if path in LEGACY_NAMES.values() else TASKS}
        return Accepted(handle=handle, poll_after=self.poll_after(connection))


def _id_of(data: Any) -> str:
    """The id in the answer to a submission of either generation, empty where there is none."""
    return id_of(data.get("id") or data.get("task_id")) if isinstance(data, dict) else ""


def _job(handle: Mapping[str, Any], connection: Connection) -> KlingJob | UpstreamError:
    try:
        return jobs.one(handle["path"], handle["id"], connection)
    except UpstreamError as error:
        return error


def _named(path: str, name: str, connection: Connection) -> list[KlingJob]:
    """The job of the older generation that has this name, if there is one."""
    try:
        return [jobs.one(path, name, connection)]
    except UpstreamError as error:
        if error.kind is ErrorKind.EMPTY_RESULT:
            return []
        raise
