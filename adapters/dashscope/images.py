"""The DashScope (Alibaba Model Studio) image protocol: Qwen-Image and Wan, with the result at once or as a job.

The option `mode` decides: "sync" (default), or "async" for models and regions that have jobs only.
Facts: Alibaba's documentation of the two endpoints and its DashScope SDK 2.0.2. `dashscope/image_request.py` is
the pure half.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from adapters.base import (
    Accepted,
    Connection,
    Done,
    ErrorKind,
    Output,
    Target,
    TaskRequest,
    Unsupported,
    UpstreamError,
    UpstreamRequest,
)
from adapters.dashscope import images_request as dashscope_image_request
from adapters.dashscope import jobs as dashscope
from adapters.dashscope.jobs import ASYNC_HEADERS, Answer, DashScopeJobs, output_of
from adapters.kit import inline, rules
from adapters.kit.error_kinds import spoken_error
from adapters.kit.outputs import is_url
from adapters.kit.pictures import MAX_ANSWER_BYTES, bought

CAPABILITIES = rules.IMAGE_CAPABILITIES
OPTIONS = {
    "mode": rules.one_of("sync", "async"),
    "poll_seconds": rules.POLL_SECONDS,
    "workspace": dashscope.WORKSPACE,
}


class DashScopeImage(DashScopeJobs):
    """Adapter of `dashscope_image`."""

    protocol: ClassVar[str] = "dashscope_image"
    modalities: ClassVar[frozenset[str]] = frozenset({"image"})
    summary: ClassVar[str] = "Alibaba Model Studio images (Qwen-Image, Wan), at once or as a job"
    capabilities: ClassVar[rules.Rules] = CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(dashscope_image_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return dashscope_image_request.build(request, target)

    def submit_seconds(self, target: Target) -> float | None:
        return super().submit_seconds(target) if dashscope_image_request.is_async(target) else None

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        is_job = upstream.path == dashscope_image_request.ASYNC_PATH
        with inline.body_of(upstream, connection, "data_url") as body:
            headers = {"Content-Type": body.content_type, **(ASYNC_HEADERS if is_job else {})}
            call = self.call("POST", upstream.path, paid=True, headers=headers, body=body, max_bytes=MAX_ANSWER_BYTES)
            return self.accepted(call, connection) if is_job else bought(call, connection, _items)

    def result(self, answer: Answer) -> Done | UpstreamError:
        """Some of several pictures may have failed: what there is counts."""
        items = _items(answer) or ()
        urls = [url for _, url in items if is_url(url)]
        if urls:
            return Done(outputs=tuple(Output(index=i, kind="image", url=url) for i, url in enumerate(urls)))
        return _without_pictures(output_of(answer))

    def attach(self, upstream_id: str, target: Target) -> Mapping[str, Any]:
        if not dashscope_image_request.is_async(target):
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


def _without_pictures(output: Answer) -> UpstreamError:
    """The reason that the provider gives for one of the pictures, if it gives any."""
    results = output.get("results")
    for result in results if isinstance(results, list) else []:
        if (spoken := spoken_error(result)).code:
            return dashscope.failed(spoken)
    return UpstreamError(ErrorKind.EMPTY_RESULT, "the job succeeded without a picture")
