"""The Kling protocol: asynchronous video jobs, polled in batches, found again by our own name for them.

Facts: the provider's API documentation of 2026-09 (create, query by `task_ids` or `external_task_ids`, error codes) and
what the client `kling-api` 2.0 reports from live calls: at most 20 ids a query; an unknown id is absent from the
answer; a name that is taken is refused as 1201 "already exists"; the older generation says 1201 "Task not found by
id/external id". `kling/request.py` is the pure half, `kling/jobs.py` reads the jobs.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Pending,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.kit import rules
from adapters.kit.error_kinds import Verdict
from adapters.kit.http import bearer, call_json
from adapters.kit.shapes import Asynchronous, id_of, probing
from adapters.kling import errors as kling_errors
from adapters.kling import jobs as kling_jobs
from adapters.kling import legacy as kling_legacy
from adapters.kling import request as kling_request
from adapters.kling.auth import signed
from adapters.kling.errors import verdict_of
from adapters.kling.jobs import TASKS

LEGACY_PROBE_PATH = f"{kling_legacy.PATHS['text']}?pageNum=1&pageSize=1"
LEGACY_NAMES = {path.rpartition("/")[2]: path for path in kling_legacy.PATHS.values()}
OPTIONS = {"api": rules.one_of("v3", "v1"), "poll_seconds": rules.POLL_SECONDS}


class KlingTasks(Asynchronous):
    """Adapter of `kling_tasks`. A handle is `{"id": …, "path": where its state is asked for}`."""

    protocol: ClassVar[str] = "kling_tasks"
    summary: ClassVar[str] = "Kling video generation, both generations of its API"
    error_codes: ClassVar[Mapping[str, Verdict]] = kling_errors.CODES
    capabilities: ClassVar[rules.Rules] = kling_request.CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    credential_sets: ClassVar[Sequence[Sequence[str]]] = (("api_key",), ("access_key", "secret_key"))
    submit_safety: ClassVar[Literal["none", "idempotency_key", "lookup"]] = "lookup"
    poll_batch: ClassVar[int] = 20
    poll_seconds: ClassVar[float] = 10.0
    probe_path: ClassVar[str] = f"{TASKS}?task_ids=0"

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def authorize(self, connection: Connection) -> dict[str, str]:
        return bearer(signed(connection))

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(kling_request.problems(request, target))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return kling_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        body = json.dumps(kling_request.named(upstream, connection.reference)).encode()
        headers = {"Content-Type": "application/json"}
        call = self.call("POST", upstream.path, paid=True, headers=headers, body=body)
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
            jobs = _named(upstream.path, name, signed(connection))
        else:
            jobs = kling_jobs.listed({"external_task_ids": name}, signed(connection))
        job = next((job for job in jobs if job.external_id == name), None)
        return self._accepted(job.id, upstream.path, connection) if job else None

    def poll(
        self, handles: Sequence[Mapping[str, Any]], connection: Connection
    ) -> list[Pending | Done | UpstreamError]:
        """One request for all jobs of the newer generation. One that the answer does not show is asked for alone, as
        each of the older generation is; a fault met then stands for all that is still unknown."""
        connection = signed(connection)
        ids = [handle["id"] for handle in handles if handle["path"] == TASKS]
        jobs = kling_jobs.batch(ids, connection) if len(ids) > 1 else {}
        states: list[Pending | Done | UpstreamError] = []
        fault: UpstreamError | None = None
        for handle in handles:
            job = jobs.get(handle["id"]) or fault or _job(handle, connection)
            if isinstance(job, UpstreamError):
                fault = None if job.kind is ErrorKind.EMPTY_RESULT else job
                states.append(job)
            else:
                states.append(kling_jobs.ended(job, connection) or Pending(poll_after=self.poll_after(connection)))
        return states

    def probe(self, connection: Connection) -> None:
        """The two generations take different credentials, so each is asked for something of its own. Raises
        UpstreamError, also for a success whose body says otherwise."""
        path = LEGACY_PROBE_PATH if kling_request.is_legacy(connection.options) else self.probe_path
        with probing():
            call_json(self.call("GET", path), signed(connection), lambda answer: answer.get("code") == 0)

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        """In the older generation the id follows the name of its endpoint: `text2video/123`."""
        if not kling_request.is_legacy(target.options):
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


def _job(handle: Mapping[str, Any], connection: Connection) -> kling_jobs.Job | UpstreamError:
    try:
        return kling_jobs.one(handle["path"], handle["id"], connection)
    except UpstreamError as error:
        return error


def _named(path: str, name: str, connection: Connection) -> list[kling_jobs.Job]:
    """The job of the older generation that has this name, if there is one."""
    try:
        return [kling_jobs.one(path, name, connection)]
    except UpstreamError as error:
        if error.kind is ErrorKind.EMPTY_RESULT:
            return []
        raise
