"""The DashScope (Alibaba Model Studio) video protocol: Wan and the models that it hosts, as jobs polled by id.

Facts: Alibaba's documentation of video synthesis and its DashScope SDK 2.0.2 (path, media types, parameters).
"""

from typing import Any

from adapters.base import Accepted, Connection, Done, UpstreamError, UpstreamRequest
from adapters.dashscope import videos_request
from adapters.dashscope.jobs import ASYNC_HEADERS, WORKSPACE, DashScopeJobs, Document, output_of
from adapters.kit import checks, rules
from adapters.kit.jobs import film_told, seconds_of

# `duration` comes last: where there are reference videos it counts them too.
LENGTHS = ("output_video_duration", "video_duration", "duration")


class DashScopeVideo(DashScopeJobs):
    """Adapter of `dashscope_video`."""

    protocol = "dashscope_video"
    modalities = frozenset({"video"})
    expresses = checks.fields("video")
    summary = "Alibaba Model Studio video (Wan and hosted models)"
    capabilities = videos_request.CAPABILITIES
    options = {"poll_seconds": rules.POLL_SECONDS, "workspace": WORKSPACE}
    problems = staticmethod(videos_request.problems)
    build = staticmethod(videos_request.build)

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        return self.accepted(self.paid(upstream, headers=ASYNC_HEADERS), connection)

    def result(self, answer: Document, connection: Connection) -> Done | UpstreamError:
        return film_told(output_of(answer).get("video_url"), _length(answer.get("usage")))


def _length(usage: Any) -> float | None:
    fields = usage if isinstance(usage, dict) else {}
    return next(filter(None, (seconds_of(fields.get(name)) for name in LENGTHS)), None)
