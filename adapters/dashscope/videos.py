"""The DashScope (Alibaba Model Studio) video protocol: Wan and the models that it hosts, as jobs polled by id.

Facts: Alibaba's documentation of video synthesis and its DashScope SDK 2.0.2 (path, media types, parameters).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.base import (
    Accepted,
    Connection,
    Done,
    Reported,
    Target,
    UpstreamError,
    UpstreamField,
    UpstreamRequest,
)
from adapters.dashscope import video_fields, videos_request
from adapters.dashscope.jobs import ASYNC_HEADERS, WORKSPACE, DashScopeJobs, Document, output_of
from adapters.kit import checks, rules
from adapters.kit.jobs import film_told, seconds_of
from adapters.kit.reports import count_of, part, size_of, word_of

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

    def fields(self, target: Target) -> Sequence[UpstreamField]:
        return video_fields.FIELDS

    def submit(self, upstream: UpstreamRequest, connection: Connection) -> Accepted | Done:
        return self.accepted(self.paid(upstream, headers=ASYNC_HEADERS), connection)

    def result(self, answer: Document, connection: Connection) -> Done | UpstreamError:
        usage = part(answer, "usage")
        return film_told(output_of(answer).get("video_url"), _length(usage), _reported(usage))


def _length(usage: Mapping[str, Any]) -> float | None:
    return next(filter(None, (seconds_of(usage.get(name)) for name in LENGTHS)), None)


def _reported(usage: Mapping[str, Any]) -> Reported:
    return Reported(
        count=count_of(usage.get("video_count")),
        resolution=word_of(usage.get("SR")),
        size=size_of(usage.get("size")),
        used_seconds=seconds_of(usage.get("duration")),
    )
