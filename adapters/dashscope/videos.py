"""The DashScope (Alibaba Model Studio) video protocol: Wan and the models that it hosts, as jobs polled by id.

Facts: Alibaba's documentation of video synthesis and its DashScope SDK 2.0.2 (path, media types, parameters).
`dashscope/video_request.py` is the pure half, `dashscope/jobs.py` what this provider's protocols share.
"""

import json
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
from adapters.dashscope import jobs as dashscope
from adapters.dashscope import videos_request as dashscope_video_request
from adapters.dashscope.jobs import ASYNC_HEADERS, Answer, DashScopeJobs, output_of
from adapters.kit import rules
from adapters.kit.outputs import is_url
from adapters.kit.shapes import seconds_of

OPTIONS = {"poll_seconds": rules.POLL_SECONDS, "workspace": dashscope.WORKSPACE}
# `duration` comes last: where there are reference videos it counts them too.
LENGTHS = ("output_video_duration", "video_duration", "duration")


class DashScopeVideo(DashScopeJobs):
    """Adapter of `dashscope_video`."""

    protocol: ClassVar[str] = "dashscope_video"
    modalities: ClassVar[frozenset[str]] = frozenset({"video"})
    summary: ClassVar[str] = "Alibaba Model Studio video (Wan and hosted models)"
    capabilities: ClassVar[rules.Rules] = dashscope_video_request.CAPABILITIES
    options: ClassVar[rules.Rules] = OPTIONS

    def check(self, request: TaskRequest, target: Target) -> list[Unsupported]:
        return list(dashscope_video_request.problems(request, target.capabilities))

    def build(self, request: TaskRequest, target: Target) -> UpstreamRequest:
        return dashscope_video_request.build(request, target)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        headers = {"Content-Type": "application/json", **ASYNC_HEADERS}
        body = json.dumps(upstream.body).encode()
        return self.accepted(self.call("POST", upstream.path, paid=True, headers=headers, body=body), connection)

    def result(self, answer: Answer) -> Done | UpstreamError:
        url = output_of(answer).get("video_url")
        if not is_url(url):
            return UpstreamError(ErrorKind.EMPTY_RESULT, "the job succeeded without a video")
        return Done(outputs=(Output(index=0, kind="video", url=url),), duration=_length(answer.get("usage")))


def _length(usage: Any) -> float | None:
    fields = usage if isinstance(usage, dict) else {}
    return next(filter(None, (seconds_of(fields.get(name)) for name in LENGTHS)), None)
