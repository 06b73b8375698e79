"""What the DashScope (Alibaba Model Studio) protocols share: error codes, headers, and jobs that are polled by id.

Facts: Alibaba's documentation of Model Studio and its DashScope SDK 2.0.2 (paths, headers, task states).
"""

import re
from collections.abc import Mapping
from typing import Any, ClassVar, overload
from urllib.parse import quote

from adapters.base import Accepted, Connection, Done, ErrorKind, Pending, UpstreamError
from adapters.kit import rules
from adapters.kit.error_kinds import NOT_HERE, SpokenError, Verdict, spoken_error
from adapters.kit.http import Call, bearer, call_json, calling, job_error
from adapters.kit.shapes import Asynchronous, id_of

Answer = dict[str, Any]

ASYNC_HEADERS = {"X-DashScope-Async": "enable"}
WORKSPACE_HEADER = "X-DashScope-WorkSpace"
WORKSPACE = rules.rule(
    lambda value: isinstance(value, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,100}", value) is not None,
    "the id of a workspace",
)
# By the whole code, else by the part before its first dot. InternalError and its kin are absent on purpose: whether a
# job was bought is as open as with any other 500.
CODES = {
    "InvalidApiKey": Verdict(ErrorKind.AUTH),
    "AccessDenied": Verdict(ErrorKind.AUTH),
    "App.AccessDenied": Verdict(ErrorKind.AUTH),
    "Workspace.AccessDenied": Verdict(ErrorKind.AUTH),
    "Model.AccessDenied": NOT_HERE,
    "ModelNotFound": NOT_HERE,
    "WorkSpaceNotFound": NOT_HERE,
    "Arrearage": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "AllocationQuota": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "CommodityNotPurchased": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "PrepaidBillOverdue": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "PostpaidBillOverdue": Verdict(ErrorKind.QUOTA_EXHAUSTED),
    "Throttling": Verdict(ErrorKind.RATE_LIMITED),
    "LimitRequests": Verdict(ErrorKind.RATE_LIMITED),
    "ModelUnavailable": Verdict(ErrorKind.OVERLOADED),
    "DataInspectionFailed": Verdict(ErrorKind.CONTENT_POLICY),
    "IPInfringementSuspect": Verdict(ErrorKind.CONTENT_POLICY),
    "InvalidParameter.DataInspection": Verdict(ErrorKind.ASSET_UNREACHABLE),  # the inspection could not fetch an input
    "InvalidURL.ConnectionRefused": Verdict(ErrorKind.ASSET_UNREACHABLE),
    "InvalidURL.Timeout": Verdict(ErrorKind.ASSET_UNREACHABLE),
    "InvalidParameter": Verdict(ErrorKind.INVALID_REQUEST),
    "InvalidURL": Verdict(ErrorKind.INVALID_REQUEST),
    "BadRequest": Verdict(ErrorKind.INVALID_REQUEST),
    # The model had the request for a while, whatever the status is.
    "RequestTimeOut": Verdict(ErrorKind.AMBIGUOUS),
    "ResponseTimeout": Verdict(ErrorKind.AMBIGUOUS),
}
JOB_ENDS = (ErrorKind.CONTENT_POLICY, ErrorKind.INVALID_REQUEST, ErrorKind.ASSET_UNREACHABLE)


def verdict_of(code: str) -> Verdict | None:
    """What an error code means; None for one that says nothing certain."""
    return CODES.get(code) or CODES.get(code.partition(".")[0])


class DashScopeJobs(Asynchronous):
    """The base of the adapters: one of these adds `result` to what adapters have."""

    probe_path: ClassVar[str] = "/tasks/00000000-0000-0000-0000-000000000000"

    error_codes: ClassVar[Mapping[str, Verdict]] = CODES

    def codes(self, code: str) -> Verdict | None:
        return verdict_of(code)

    def authorize(self, connection: Connection) -> dict[str, str]:
        """The key, and the option `workspace` where an account has several."""
        workspace = connection.options.get("workspace")
        return {**bearer(connection), **({WORKSPACE_HEADER: workspace} if workspace else {})}

    def accepted(self, call: Call, connection: Connection) -> Accepted:
        """The paid call for a job; it carries ASYNC_HEADERS. Raises UpstreamError."""
        answer = call_json(call, connection, lambda answer: bool(id_of(output_of(answer).get("task_id"))))
        return Accepted(handle={"id": id_of(answer["output"]["task_id"])}, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        answer = self._task(handle["id"], connection)
        match answer["output"]["task_status"]:
            case "SUCCEEDED":
                return _without_credentials(self.result(answer), connection)
            case "FAILED":
                return failure(answer, connection)
            case "CANCELED":
                return UpstreamError(ErrorKind.PROVIDER_FAILED, "the job was cancelled", code="CANCELED")
            case "UNKNOWN":
                return UpstreamError(ErrorKind.EMPTY_RESULT, "the provider does not know the job (any more)")
            case _:
                return Pending(poll_after=self.poll_after(connection))

    def result(self, answer: Answer) -> Done | UpstreamError:
        """Of a task that succeeded: `answer` has `output` and, mostly, `usage`. What it says may quote anything."""
        raise NotImplementedError

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Of a job that has not begun; the provider refuses for others."""
        call = self.call("POST", f"{path_of(handle['id'])}/cancel")
        try:
            with calling(call, connection):
                return True
        except UpstreamError:
            return False

    def _task(self, job_id: str, connection: Connection) -> Answer:
        """Raises UpstreamError, a poll fault always: of a job that is gone the answer is a success."""
        call = self.call("GET", path_of(job_id))
        try:
            return call_json(call, connection, lambda answer: isinstance(output_of(answer).get("task_status"), str))
        except UpstreamError as error:
            if error.kind not in JOB_ENDS:
                raise
            raise error.as_kind(ErrorKind.TRANSIENT) from error


def path_of(job_id: str) -> str:
    return f"/tasks/{quote(job_id, safe='')}"


def output_of(answer: Any) -> Answer:
    """The `output` of an answer, empty where it has none."""
    output = answer.get("output") if isinstance(answer, dict) else None
    return output if isinstance(output, dict) else {}


def failure(answer: Answer, connection: Connection) -> UpstreamError:
    """Of a task that failed: the error at the root, else the one in the output."""
    spoken = spoken_error(answer)
    return _without_credentials(failed(spoken if spoken.code else spoken_error(output_of(answer))), connection)


def failed(spoken: SpokenError) -> UpstreamError:
    """The end of a job for the reason that the provider gives."""
    verdict = verdict_of(spoken.code)
    kind = verdict.kind if verdict and verdict.kind in JOB_ENDS else ErrorKind.PROVIDER_FAILED
    return UpstreamError(kind, spoken.message or "the job failed", code=spoken.code)


@overload
def _without_credentials(outcome: UpstreamError, connection: Connection) -> UpstreamError: ...
@overload
def _without_credentials(outcome: Done | UpstreamError, connection: Connection) -> Done | UpstreamError: ...
def _without_credentials(outcome: Done | UpstreamError, connection: Connection) -> Done | UpstreamError:
    if isinstance(outcome, Done):
        return outcome
    said = SpokenError(code=outcome.code, message=outcome.message)
    return job_error(outcome.kind, said, connection, "the job failed")
