"""Whatever a caller gives as options: the film that the provider is asked for is the film that is billed.

What the final body buys is read here by the providers' own rules, apart from the adapters: `frames` wins over the
duration, a draft is small, several shots add up, a mode is a resolution, and defaults are what they are.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from adapters import expression
from adapters.base import Target, TaskRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import video_request, video_target

ANY = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Bought:
    """What a provider would make; ANY stands for what nobody can tell beforehand."""

    seconds: Any
    resolution: Any
    has_sound: Any
    count: Any = 1


def of_ark(body: Mapping[str, Any]) -> Bought:
    seconds = body["frames"] / 24 if "frames" in body else body.get("duration", 5)
    is_edit = body.get("omni_reference_task_type", "reference") != "reference"
    return Bought(
        seconds=ANY if seconds == -1 or is_edit else seconds,
        resolution="480p" if body.get("draft") else body.get("resolution", "720p"),
        has_sound=body.get("generate_audio", True),
    )


def of_minimax(body: Mapping[str, Any]) -> Bought:
    return Bought(seconds=body.get("duration", 6), resolution=body.get("resolution", "768P").lower(), has_sound=ANY)


def of_openai(body: Mapping[str, Any]) -> Bought:
    seconds = int(body.get("seconds", 4))
    if "num_frames" in body:
        seconds = body["num_frames"] / body.get("fps", 24)
    width, height = map(int, str(body.get("size", "0x0")).split("x"))
    short = min(body.get("width", width), body.get("height", height))
    resolution = {720: "720p", 1024: "1080p"}.get(short, ANY)
    count = body.get("n", body.get("num_videos", 1))
    extra = ANY if body.get("extra_params") else body.get("generate_sound", ANY)
    return Bought(seconds=seconds, resolution=resolution, has_sound=extra, count=count)


def of_dashscope(body: Mapping[str, Any]) -> Bought:
    parameters = body["parameters"]
    return Bought(
        seconds=parameters.get("duration", 5),
        resolution=parameters.get("resolution", "1080P").lower(),
        has_sound=parameters.get("audio", True),
        count=parameters.get("n", body["input"].get("n", 1)),
    )


def of_kling(body: Mapping[str, Any]) -> Bought:
    asked = body["settings"]
    shots = asked.get("multi_prompt", body.get("multi_prompt"))
    is_edit = any(item.get("type") == "video" and item.get("refer_type") == "base" for item in body.get("contents", ()))
    seconds = sum(int(shot["duration"]) for shot in shots) if shots else asked.get("duration", 5)
    sound = asked.get("audio", "off") != "off"
    return Bought(seconds=ANY if is_edit else seconds, resolution=asked.get("resolution", "720p"), has_sound=sound)


def of_old_kling(body: Mapping[str, Any]) -> Bought:
    shots = body.get("multi_prompt")
    is_edit = any(item.get("refer_type", "base") == "base" for item in body.get("video_list", ()))
    seconds = sum(int(shot["duration"]) for shot in shots) if shots else int(body.get("duration", 5))
    return Bought(
        seconds=ANY if is_edit else seconds,
        resolution={"std": "720p", "pro": "1080p", "4k": "4k"}[body.get("mode", "std")],
        has_sound=body.get("sound", "off") == "on",
    )


def of_openrouter(body: Mapping[str, Any]) -> Bought:
    resolution = ANY if "size" in body or "upscale_factor" in body else body.get("resolution", ANY)
    is_passed_on = bool(body.get("provider", {}).get("options"))
    return Bought(
        seconds=ANY if is_passed_on or "previous_job_id" in body else body.get("duration", ANY),
        resolution=resolution,
        has_sound=body.get("generate_audio", True),
    )


def of_runway(body: Mapping[str, Any]) -> Bought:
    asked = body.get("input", body)
    shots = asked.get("providerSettings", {}).get("multiPrompt")
    seconds = sum(shot["duration"] for shot in shots) if shots else asked.get("duration", ANY)
    short = min(map(int, asked["ratio"].split(":"))) if ":" in asked.get("ratio", "") else 0
    resolution = asked.get("resolution") or {720: "720p", 960: "720p", 1080: "1080p", 1440: "1080p", 2160: "4k"}[short]
    return Bought(
        seconds=ANY if seconds == "auto" or "keyframes" in asked else seconds,
        resolution="480p" if asked.get("draft") else resolution,
        has_sound=asked.get("audio", True),
    )


def of_template(body: Mapping[str, Any]) -> Bought:
    asked = body.get("input", body)
    counts = [value for name, value in asked.items() if name.replace("_", "") in ("numvideos", "numoutputs", "n")]
    return Bought(
        seconds=asked.get("duration", ANY),
        resolution=asked.get("resolution", ANY),
        has_sound=asked.get("generate_audio", ANY),
        count=max(counts, default=1),
    )


Reader = Callable[[Mapping[str, Any]], Bought]
# By protocol and the channel's options: who reads the body, and which further fields are known to be harmless.
PROTOCOLS: list[tuple[str, dict[str, Any], Reader, str]] = [
    ("ark_content_tasks", {}, of_ark, "seed camera_fixed watermark return_last_frame"),
    ("ark_content_tasks", {"dialect": "minimax_v2"}, of_minimax, "aigc_watermark"),
    ("openai_videos", {}, of_openai, ""),
    ("openai_videos", {"encoding": "json"}, of_openai, ""),
    ("openai_videos", {"dialect": "vllm_omni"}, of_openai, "seed negative_prompt boundary_ratio flow_shift"),
    ("dashscope_video", {}, of_dashscope, "seed watermark negative_prompt prompt_extend shot_type"),
    ("kling_tasks", {}, of_kling, "multi_shot"),
    ("kling_tasks", {"api": "v1"}, of_old_kling, "cfg_scale negative_prompt"),
    ("openrouter_videos", {}, of_openrouter, "seed session_id"),
    ("runway", {}, of_runway, "seed negativePrompt cfgScale contentModeration publicFigureThreshold"),
    ("runway", {"api": "router"}, of_runway, "seed negativePrompt contentModeration publicFigureThreshold"),
    ("http_template", {"template": "fal_video"}, of_template, "seed negative_prompt cfg_scale enable_safety_checker"),
    ("http_template", {"template": "replicate_video"}, of_template, "seed negative_prompt camera_fixed"),
]
LENGTHS = "duration seconds duration_seconds durationSeconds num_seconds video_length num_frames frames fps dur -1"
COUNTS = "n N num_videos num_outputs number_of_videos batch_size batch count quantity samples sampleCount outputCount"
SIZES = "resolution size width height ratio aspect_ratio image_size video_size output_resolution mode quality draft"
INPUTS = (
    "content contents input inputs image image_url promptImage references videoUri frame_images video_list keyframes"
)
OTHERS = (
    "generate_audio audio sound generate_sound settings parameters provider providerSettings multi_prompt multi_shot "
    "metadata extra_body extra_fields extra_params ext_info service_tier tools omni_reference_task_type upscale_factor "
    "previous_job_id Duration RESOLUTION contentModeration publicFigureThreshold seed watermark negative_prompt "
    "cfg_scale cfgScale negativePrompt camera_fixed return_last_frame shot_type prompt_extend flow_shift "
    "aigc_watermark session_id enable_safety_checker model.name input.duration settings[duration] parameters.size "
    "options draftTaskId priority"
)
NAMES = " ".join([LENGTHS, COUNTS, SIZES, INPUTS, OTHERS]).split()
SCALARS = st.sampled_from(
    [True, False, -1, 0, 1, 8, 30, 0.5, "8", "auto", "1080p", "4k", "1920x1080", "pro", "low", "x"]
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=2),
    max_leaves=4,
)
OPTIONS = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=3)
COMMANDS = ["a fox --dur 12 --rs 1080p", "--frames=289 a fox"]
UNTOLD = [("dashscope_video", None), ("kling_tasks", None), ("ark_content_tasks", "minimax_v2")]
"""Protocols of whose models no commands in prompts are known."""
FILMS = st.fixed_dictionaries(
    {
        "duration": st.sampled_from([4, 5, 8, 10]),
        "resolution": st.sampled_from(["720p", "1080p", "768p"]),
        "generate_audio": st.sampled_from([None, True, False]),
        "prompt": st.sampled_from(["a fox", "-- a fox --", *COMMANDS]),
    }
)


def paths(value: Any) -> Iterator[str]:
    """Every name in a body, at any depth."""
    if isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from paths(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths(item)


def target_of(protocol: str, options: dict[str, Any]) -> Target:
    return replace(video_target(), adapter=protocol, options=options)


def taken(protocol: str, options: dict[str, Any], request: TaskRequest) -> Mapping[str, Any] | None:
    """What would be sent, None for a request that is refused."""
    target = target_of(protocol, options)
    if expression.check(ADAPTERS[protocol], request, target):
        return None
    return expression.build(ADAPTERS[protocol], request, target).body


@pytest.mark.parametrize(("protocol", "options", "read", "harmless"), PROTOCOLS)
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(film=FILMS, extra=OPTIONS)
def test_what_is_bought_is_what_is_billed(protocol, options, read, harmless, film, extra) -> None:
    request = video_request(**film, provider_options=extra)
    body = taken(protocol, options, request)
    if body is None:
        return
    bought, target = read(body), target_of(protocol, options)
    billed = expression.build(ADAPTERS[protocol], request, target).billed
    assert bought.count == billed.count == 1
    assert (bought.seconds, bought.resolution) == (film["duration"], film["resolution"])
    assert billed.tier == film["resolution"]
    assert bought.has_sound in (ANY, film["generate_audio"] is True)
    assert film["prompt"] not in COMMANDS or (protocol, options.get("dialect")) in UNTOLD
    plain = taken(protocol, options, replace(request, provider_options={}))
    assert plain is not None
    assert set(paths(body)) - set(paths(plain)) <= set(harmless.split())


@pytest.mark.parametrize(("protocol", "options", "read", "harmless"), PROTOCOLS)
def test_without_options_a_film_is_bought_as_it_is_billed(protocol, options, read, harmless) -> None:
    """So that the test above is not one of refusals alone."""
    body = taken(protocol, options, video_request())
    body = body or taken(protocol, options, video_request(resolution="768p"))
    assert body is not None
    assert read(body).seconds == 5
    for name in harmless.split():
        values: list[Any] = [True, 7, 0.5, "x", {"publicFigureThreshold": "auto"}]
        found = [taken(protocol, options, video_request(provider_options={name: value})) for value in values]
        assert any(found) or name == "publicFigureThreshold", name
