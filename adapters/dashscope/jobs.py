"""The jobs of the DashScope (Alibaba Model Studio) protocols, polled by id, and the headers that these share.

Facts: Alibaba's documentation of Model Studio and its DashScope SDK 2.0.2 (paths, headers, task states).
"""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from adapters.base import ENDS_JOB, Accepted, Connection, Done, ErrorKind, Pending, UpstreamError
from adapters.dashscope import errors
from adapters.kit import rules
from adapters.kit.error_kinds import SpokenError, spoken_error
from adapters.kit.http import MAX_JOB_BYTES, HttpCall, bearer, call_json, calling
from adapters.kit.jobs import asking, failure, id_of
from adapters.kit.shapes import Asynchronous

Document = dict[str, Any]

ASYNC_HEADERS = {"X-DashScope-Async": "enable"}
WORKSPACE_HEADER = "X-DashScope-WorkSpace"
WORKSPACE = rules.rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,100}", value) is not None,
    "the id of a workspace",
    "text",
)


class DashScopeJobs(Asynchronous):
    """The base of the adapters: one of these adds `result` to what adapters have."""

    probe_path = "/tasks/00000000-0000-0000-0000-000000000000"
    error_codes = errors.CODES

    def codes(self, code: str) -> ErrorKind | None:
        return errors.kind_of(code)

    def shape(self, document: Any) -> bool:
        return errors.is_own(document)

    def authorize(self, connection: Connection) -> dict[str, str]:
        """The key, and the option `workspace` where an account has several."""
        workspace = connection.options.get("workspace")
        return {**bearer(connection), **({WORKSPACE_HEADER: workspace} if workspace else {})}

    def accepted(self, call: HttpCall, connection: Connection) -> Accepted:
        """The paid call for a job; it carries ASYNC_HEADERS. Raises UpstreamError."""
        answer = call_json(call, connection, lambda answer: bool(id_of(output_of(answer).get("task_id"))))
        return Accepted(handle={"id": id_of(answer["output"]["task_id"])}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        answer = self._task(handle["id"], connection)
        match answer["output"]["task_status"]:
            case "SUCCEEDED":
                return self.result(answer, connection)
            case "FAILED":
                spoken = spoken_error(answer)
                return failed(spoken if spoken.code else spoken_error(output_of(answer)), connection)
            case "CANCELED":
                return UpstreamError(ErrorKind.PROVIDER_FAILED, "the job was cancelled", code="CANCELED")
            case "UNKNOWN":
                return UpstreamError(ErrorKind.EMPTY_RESULT, "the provider does not know the job (any more)")
            case _:
                return Pending(poll_after=self.poll_after(connection))

    def result(self, answer: Document, connection: Connection) -> Done | UpstreamError:
        """Of a task that succeeded: `answer` has `output` and, mostly, `usage`."""
        raise NotImplementedError

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Of a job that has not begun; the provider refuses for others."""
        call = self.call("POST", f"{path_of(handle['id'])}/cancel")
        try:
            with calling(call, connection):
                return True
        except UpstreamError:
            return False

    def _task(self, job_id: str, connection: Connection) -> Document:
        """Raises UpstreamError, a poll fault always: of a job that is gone the answer is a success."""
        call = self.call("GET", path_of(job_id), max_bytes=MAX_JOB_BYTES)
        with asking():
            return call_json(call, connection, lambda answer: isinstance(output_of(answer).get("task_status"), str))


def path_of(job_id: str) -> str:
    return f"/tasks/{quote(job_id, safe='')}"


def output_of(answer: Any) -> Document:
    """The `output` of an answer, empty where it has none."""
    output = answer.get("output") if isinstance(answer, dict) else None
    return output if isinstance(output, dict) else {}


def failed(spoken: SpokenError, connection: Connection) -> UpstreamError:
    """The end of a job for the reason that the provider gives."""
    told = errors.kind_of(spoken.code)
    kind = told if told and told in ENDS_JOB else ErrorKind.PROVIDER_FAILED
    return failure(kind, spoken, connection, "the job failed")
