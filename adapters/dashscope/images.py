"""The DashScope (Alibaba Model Studio) image protocol: Qwen-Image and Wan, with the result at once or as a job.

The option `mode` decides: "sync" (default), or "async" for models and regions that have jobs only.
Facts: Alibaba's documentation of the two endpoints and its DashScope SDK 2.0.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.dashscope import images_fields, images_request
from adapters.dashscope.jobs import ASYNC_HEADERS, WORKSPACE, DashScopeJobs, Document, failed, output_of
from adapters.kit import checks, inline, rules
from adapters.kit.error_kinds import spoken_error
from adapters.kit.outputs import is_url
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought
from adapters.kit.reports import of_pictures
from adapters.kit.sizes import SizeTable


class DashScopeImage(DashScopeJobs):
    """Adapter of `dashscope_image`."""

    protocol = "dashscope_image"
    modalities = frozenset({"image"})
    expresses = checks.fields("image")
    summary = "Alibaba Model Studio images (Qwen-Image, Wan), at once or as a job"
    capabilities = rules.IMAGE_CAPABILITIES
    options = {
        "mode": rules.one_of("sync", "async"),
        "poll_seconds": rules.POLL_SECONDS,
        "workspace": WORKSPACE,
    }
    settings = images_request.SETTINGS
    variants = ({}, {"mode": "async"})
    problems = staticmethod(images_request.problems)
    build = staticmethod(images_request.build)

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return images_fields.FIELDS

    def pixel_sizes(self, target: Target) -> SizeTable:
        table: SizeTable = target.capabilities.get("size_table", images_request.SIZES)
        return table

    def submit_seconds(self, target: Target) -> float | None:
        return super().submit_seconds(target) if images_request.is_async(target) else None

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        is_job = upstream.path == images_request.ASYNC_PATH
        with inline.body_of(upstream, connection, "data_url") as body:
            call = self.paid(upstream, body, headers=ASYNC_HEADERS if is_job else {}, max_bytes=MAX_ANSWER_BYTES)
            return self.accepted(call, connection) if is_job else bought(call, connection, _items)

    def result(self, answer: Document, connection: Connection) -> Done | UpstreamError:
        """Some of several pictures may have failed: those that there are count."""
        items = _items(answer) or ()
        urls = [url for _, url in items if is_url(url)]
        if urls:
            outputs = tuple(Output(index=i, kind="image", url=url) for i, url in enumerate(urls))
            return Done(outputs=outputs, reported=of_pictures(answer))
        return _without_pictures(output_of(answer), connection)

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        if not images_request.is_async(target):
            raise ValueError("this channel answers at once: there is no job to attach")
        return super().attach(upstream_id, target)


def _items(answer: Any) -> Iterable[tuple[object, object]] | None:
    """The pictures of `choices`, or of `results`, which older models answer with."""
    output = output_of(answer)
    choices, results = output.get("choices"), output.get("results")
    if isinstance(choices, list):
        return [(None, part.get("image")) for choice in choices for part in _content(choice) if isinstance(part, dict)]
    if isinstance(results, list):
        return [(None, result.get("url")) for result in results if isinstance(result, dict)]
    return None


def _content(choice: Any) -> list[Any]:
    message = choice.get("message") if isinstance(choice, dict) else None
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, list) else []


def _without_pictures(output: Document, connection: Connection) -> UpstreamError:
    """The reason that the provider gives for one of the pictures, if it gives any."""
    results = output.get("results")
    for result in results if isinstance(results, list) else []:
        if (spoken := spoken_error(result)).code:
            return failed(spoken, connection)
    return UpstreamError(ErrorKind.EMPTY_RESULT, "the job succeeded without a picture")
