"""The Runway protocol: asynchronous video jobs of the models it hosts, or of its own router's choice.

Facts: Runway's Python SDK 5.24.0 (requests, tasks, version header).
"""

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Pending,
    Reported,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
    text,
)
from adapters.kit import checks, error_shapes, prompt_commands, rules
from adapters.kit.error_kinds import SpokenError
from adapters.kit.http import bearer, call_json, calling
from adapters.kit.jobs import asking, failure, id_of, percent_of, seconds_of
from adapters.kit.outputs import is_url
from adapters.kit.reports import micros_of, part, word_of
from adapters.kit.shapes import Asynchronous
from adapters.kit.sizes import SizeTable
from adapters.runway import errors, fields, request

VERSION = "2024-11-06"
CREDITS_PER_USD = 100
UNFINISHED = ("PENDING", "THROTTLED", "RUNNING")
ENDED_BADLY = ("FAILED", "CANCELLED", "CANCELED")


class Runway(Asynchronous):
    """Adapter of `runway`. A handle of the router also has `resolved`: what it made of the request."""

    protocol = "runway"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "Runway's hosted video models and its model router"
    error_codes = errors.CODES
    capabilities = {**rules.VIDEO_CAPABILITIES, "sizes": rules.one_of("pixels", "words")}
    options = {"api": rules.one_of("classic", "router"), "poll_seconds": rules.POLL_SECONDS}
    variants = ({}, {"api": "router"})
    poll_seconds = 6.0
    probe_path = "/v1/organization"
    problems = staticmethod(request.problems)
    build = staticmethod(request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return fields.ROUTER if request.is_routed(target) else fields.CLASSIC

    def pixel_sizes(self, target: Target) -> SizeTable:
        return request.size_table(target)

    def prompt_command(self, prompt: str, target: Target) -> str | None:
        """Seedance is among the hosted models."""
        return prompt_commands.seedance(prompt)

    def codes(self, code: str) -> ErrorKind | None:
        """HTTP errors carry no code, only words."""
        return None

    def shape(self, document: Any) -> bool:
        """`{"error": "…"}`."""
        return error_shapes.error_text(document)

    def authorize(self, connection: Connection) -> dict[str, str]:
        return {**bearer(connection), "X-Runway-Version": VERSION}

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        try:
            document = call_json(self.paid(upstream), connection, lambda document: bool(id_of(document.get("id"))))
        except UpstreamError as error:
            raise error.as_kind(errors.told_by(error)) from error
        resolved = _resolved(document)
        handle = {"id": id_of(document["id"]), **({"resolved": resolved} if resolved else {})}
        return Accepted(handle=handle, poll_after=self.poll_after(connection))

    def state(self, handle: Mapping[str, Any], connection: Connection) -> Pending | Done | UpstreamError:
        task = self._task(handle, connection)
        if task["status"] == "SUCCEEDED":
            return _done(task, handle)
        if task["status"] in ENDED_BADLY:
            return _failed(task, connection)
        return Pending(poll_after=self.poll_after(connection), progress=percent_of(task.get("progress"), whole=1))

    def cancel(self, handle: Mapping[str, Any], connection: Connection) -> bool:
        """Deletes the task, once it is seen to be unfinished: of a finished one that would delete the result."""
        try:
            if self._task(handle, connection)["status"] not in UNFINISHED:
                return False
            with calling(self.call("DELETE", _path(handle)), connection):
                return True
        except UpstreamError:
            return False

    def _task(self, handle: Mapping[str, Any], connection: Connection) -> dict[str, Any]:
        """Raises UpstreamError as `asking`."""
        with asking(errors.is_unknown_task):
            call = self.call("GET", _path(handle))
            return call_json(call, connection, lambda document: isinstance(document.get("status"), str))


def _path(handle: Mapping[str, Any]) -> str:
    return f"/v1/tasks/{quote(handle['id'], safe='')}"


def _done(task: Mapping[str, Any], handle: Mapping[str, Any]) -> Done | UpstreamError:
    found = task.get("output")
    urls = [url for url in found if is_url(url)] if isinstance(found, list) else []
    if not urls:
        return UpstreamError(ErrorKind.EMPTY_RESULT, "the task succeeded without a video")
    outputs = tuple(Output(index=index, kind="video", url=url) for index, url in enumerate(urls))
    return Done(outputs=outputs, reported=_reported(task, handle))


def _resolved(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the router made of a request, for the handle: only the answer to the submission tells it."""
    told = part(part(document, "routing"), "resolvedInput")
    found = {"resolution": word_of(told.get("resolution")), "seconds": seconds_of(told.get("duration"))}
    return {name: value for name, value in found.items() if value is not None}


def _reported(task: Mapping[str, Any], handle: Mapping[str, Any]) -> Reported:
    resolved = part(handle, "resolved")
    return Reported(
        resolution=word_of(resolved.get("resolution")),
        used_seconds=seconds_of(resolved.get("seconds")),
        cost_micros=micros_of(part(task, "cost").get("credits"), units_per_usd=CREDITS_PER_USD),
    )


def _failed(task: Mapping[str, Any], connection: Connection) -> UpstreamError:
    said = SpokenError(code=text(task.get("failureCode")), message=text(task.get("failure")))
    kind = errors.kind_of(said.code) or ErrorKind.PROVIDER_FAILED
    return failure(kind, said, connection, f"the task ended as {task['status']}")
