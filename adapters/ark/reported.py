"""What finished jobs of `ark_content_tasks` say of themselves, to compare with the bill. Pure.

Ark counts tokens: (seconds of input videos + seconds of the film) × width × height × frames per second / 1024. MiniMax
counts the seconds of both.
"""

from collections.abc import Mapping
from typing import Any

from adapters.base import Reported
from adapters.kit.jobs import seconds_of
from adapters.kit.reports import number_of, part, switch_of, word_of

PIXELS = {"480p": 864 * 480, "720p": 1280 * 720, "1080p": 1920 * 1080, "4k": 3840 * 2160}
FRAMES_PER_SECOND = 24
# Of the ratios of one resolution some have more pixels than 16:9.
LARGEST_RATIO = 1.1


def of_ark(job: Mapping[str, Any]) -> Reported:
    resolution = word_of(job.get("resolution"))
    return Reported(
        resolution=resolution,
        has_sound=switch_of(job.get("generate_audio")),
        used_seconds=_seconds(count_of_tokens(job), resolution, job.get("framespersecond")),
    )


def of_minimax(job: Mapping[str, Any]) -> Reported:
    used = seconds_of(part(job, "usage").get("total_seconds"))
    return Reported(resolution=word_of(job.get("resolution")), used_seconds=used)


def count_of_tokens(job: Mapping[str, Any]) -> float | None:
    tokens = number_of(part(job, "usage").get("completion_tokens"))
    return tokens if tokens is not None and 0 < tokens < 10**12 else None


def _seconds(tokens: float | None, resolution: str | None, rate: object) -> float | None:
    """The least length that costs so many tokens, in whatever ratio; None where the resolution has no known size."""
    pixels = PIXELS.get((resolution or "").lower())
    if tokens is None or pixels is None:
        return None
    frames = number_of(rate) or FRAMES_PER_SECOND
    return seconds_of(tokens * 1024 / (pixels * LARGEST_RATIO * frames))
