"""Options of films: which are anybody's, which the operator's, and which nobody's, protocol by protocol."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from adapters import expression
from adapters.ark import minimax_request, videos_request
from adapters.base import FieldKind, Target, TaskRequest
from adapters.dashscope import videos_request as dashscope
from adapters.kling import legacy_request
from adapters.kling import request as kling
from adapters.openai import videos_request as openai
from adapters.openrouter import videos_request as openrouter
from adapters.registry import ADAPTERS
from adapters.runway import request as runway
from tests.adapters.making import video_request, video_target

OMNI = {"dialect": "vllm_omni"}
V1 = {"api": "v1"}
ROUTER = {"api": "router"}
MINIMAX = {"dialect": "minimax_v2"}
# Protocol, options of the channel, the rules that its options have, and the names that are ours to set.
KNOWN = [
    ("ark_content_tasks", {}, videos_request.OPTIONS, videos_request.DERIVED_OR_OURS),
    ("ark_content_tasks", MINIMAX, minimax_request.OPTIONS, videos_request.DERIVED_OR_OURS),
    ("openai_videos", {}, openai.OPTIONS["openai"], openai.DERIVED_OR_OURS),
    ("openai_videos", OMNI, openai.OPTIONS["vllm_omni"], openai.DERIVED_OR_OURS),
    ("dashscope_video", {}, dashscope.OPTIONS, dashscope.DERIVED_OR_OURS),
    ("kling_tasks", {}, kling.OPTIONS, kling.DERIVED_OR_OURS),
    ("kling_tasks", V1, legacy_request.OPTIONS, kling.DERIVED_OR_OURS),
    ("openrouter_videos", {}, openrouter.OPTIONS, openrouter.DERIVED_OR_OURS),
    ("runway", {}, runway.CLASSIC_OPTIONS, runway.TAKEN),
    ("runway", ROUTER, runway.SHARED_OPTIONS, runway.TAKEN),
]
# What the operator pays for, or answers for: an option, and the path that lets it pass.
OPERATORS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("ark_content_tasks", {}, {"service_tier": "flex"}, "service_tier"),
    ("ark_content_tasks", {}, {"priority": 9}, "priority"),
    ("ark_content_tasks", {}, {"draft": True}, "draft"),
    ("ark_content_tasks", {}, {"tools": [{"type": "web_search"}]}, "tools"),
    ("ark_content_tasks", {}, {"execution_expires_after": 3600}, "execution_expires_after"),
    ("ark_content_tasks", {}, {"safety_identifier": "somebody"}, "safety_identifier"),
    ("ark_content_tasks", {}, {"output_format": "mov"}, "output_format"),
    ("ark_content_tasks", {}, {"omni_reference_task_type": "edit"}, "omni_reference_task_type"),
    ("openai_videos", OMNI, {"fps": 60}, "fps"),
    ("openai_videos", OMNI, {"num_inference_steps": 100}, "num_inference_steps"),
    ("openai_videos", OMNI, {"guidance_scale": 7.5}, "guidance_scale"),
    ("openai_videos", OMNI, {"true_cfg_scale": 7.5}, "true_cfg_scale"),
    ("dashscope_video", {}, {"enable_thinking": True}, "enable_thinking"),
    ("openrouter_videos", {}, {"provider": {"options": {"x": {"fast": True}}}}, "provider.options"),
    ("openrouter_videos", {}, {"provider": {"order": ["x"]}}, "provider"),
    ("openrouter_videos", {}, {"previous_job_id": "job-1"}, "previous_job_id"),
    ("runway", {}, {"promptExpansionMode": "auto"}, "promptExpansionMode"),
    ("runway", {}, {"contentModeration": {"publicFigureThreshold": "low"}}, "contentModeration"),
    ("runway", ROUTER, {"contentModeration": {"publicFigureThreshold": "low"}}, "contentModeration"),
    ("http_template", {"template": "fal_video"}, {"enable_prompt_expansion": True}, "enable_prompt_expansion"),
    ("http_template", {"template": "replicate_video"}, {"fps": 60}, "fps"),
]
NEUTRAL: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("ark_content_tasks", {}, {"seed": 7, "camera_fixed": True, "watermark": True, "return_last_frame": True}),
    ("ark_content_tasks", MINIMAX, {"aigc_watermark": True}),
    ("openai_videos", OMNI, {"seed": 7, "negative_prompt": "rain", "flow_shift": 2, "boundary_ratio": 0.5}),
    ("dashscope_video", {}, {"seed": 7, "negative_prompt": "rain", "prompt_extend": True, "shot_type": "multi"}),
    ("kling_tasks", {}, {"multi_shot": True}),
    ("kling_tasks", V1, {"cfg_scale": 0.5, "negative_prompt": "rain"}),
    ("openrouter_videos", {}, {"seed": 7}),
    ("runway", {}, {"seed": 7, "negativePrompt": "rain", "cfgScale": 0.5}),
    ("runway", ROUTER, {"seed": 7, "contentModeration": {"publicFigureThreshold": "auto"}}),
    ("http_template", {"template": "fal_video"}, {"seed": 7, "negative_prompt": "rain", "enable_safety_checker": True}),
    ("http_template", {"template": "replicate_video"}, {"seed": 7, "camera_fixed": True}),
]
# Where an option goes that the protocol does not know and the operator names.
PLACES: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("ark_content_tasks", {}, ()),
    ("ark_content_tasks", MINIMAX, ()),
    ("openai_videos", {}, ()),
    ("openai_videos", OMNI, ()),
    ("dashscope_video", {}, ("parameters",)),
    ("kling_tasks", {}, ("settings",)),
    ("kling_tasks", V1, ()),
    ("openrouter_videos", {}, ()),
    ("runway", {}, ()),
    ("runway", ROUTER, ("input",)),
    ("http_template", {"template": "fal_video"}, ()),
    ("http_template", {"template": "replicate_video"}, ("input",)),
]
OBEYING = ("ark_content_tasks", "openai_videos", "openrouter_videos", "runway", "http_template")


def target(protocol: str, options: dict[str, Any], **more: Any) -> Target:
    return replace(video_target(), adapter=protocol, options=options, **more)


def refused(protocol: str, options: dict[str, Any], given: dict[str, Any], **more: Any) -> list[str]:
    request = video_request(provider_options=given)
    return [
        problem.field for problem in expression.check(ADAPTERS[protocol], request, target(protocol, options, **more))
    ]


def sent(protocol: str, options: dict[str, Any], given: dict[str, Any], **more: Any) -> Any:
    request = video_request(provider_options=given)
    assert refused(protocol, options, given, **more) == []
    return expression.build(ADAPTERS[protocol], request, target(protocol, options, **more)).body


def leaves(value: Any, path: str = "params.provider_options") -> Iterator[str]:
    if isinstance(value, dict) and value:
        for name, item in value.items():
            yield from leaves(item, f"{path}.{name}")
    else:
        yield path


@pytest.mark.parametrize(("protocol", "options", "rules", "taken"), KNOWN)
def test_every_known_option_is_listed_and_what_is_ours_is_never_the_callers(protocol, options, rules, taken) -> None:
    listed = {field.path: field for field in ADAPTERS[protocol].fields(target(protocol, options))}  # type: ignore[attr-defined]
    kinds = {name: {f.kind for path, f in listed.items() if path.split(".")[0] == name} for name in rules}
    for name, found in kinds.items():
        assert found, name
        assert found <= {FieldKind.NEUTRAL, FieldKind.OPERATOR}, name
    anybodys = {path.split(".")[0] for path, f in listed.items() if f.kind is FieldKind.NEUTRAL and not f.derived}
    assert anybodys <= set(rules)
    for name in set(taken) & set(listed):
        field = listed[name]
        assert field.derived or field.kind is FieldKind.FORBIDDEN, name
        assert refused(protocol, options, {name: "x"}, extra_fields=[name]), name


@pytest.mark.parametrize(("protocol", "options", "given", "path"), OPERATORS)
def test_the_operators_options_pass_only_where_the_channel_model_names_them(protocol, options, given, path) -> None:
    (field,) = refused(protocol, options, given)
    assert field in "".join(leaves(given)), field
    assert refused(protocol, options, given, extra_fields=["seed_of_another", path]) == []
    adapter = ADAPTERS[protocol]
    assert expression.complaints(adapter, target(protocol, options, extra_fields=[path])) == []


@pytest.mark.parametrize(("protocol", "options", "given"), NEUTRAL)
def test_neutral_options_pass(protocol, options, given) -> None:
    sent(protocol, options, given)


@pytest.mark.parametrize(("protocol", "options", "place"), PLACES)
def test_an_unlisted_option_goes_where_the_others_go_once_the_operator_names_it(protocol, options, place) -> None:
    given = {"wonder": {"depth": 3}}
    assert refused(protocol, options, given) == ["params.provider_options.wonder"]
    body = sent(protocol, options, given, extra_fields=["wonder"])
    for step in place:
        body = body[step]
    assert body["wonder"] == {"depth": 3}


@pytest.mark.parametrize(("protocol", "options", "given"), NEUTRAL)
def test_what_the_operator_fixes_is_sent_and_no_other_value(protocol, options, given) -> None:
    name, value = next(iter(given.items()))
    fixed = {name: value}
    assert expression.complaints(ADAPTERS[protocol], target(protocol, options, fixed=fixed)) == []
    for same in ({}, fixed):
        assert sent(protocol, options, same, fixed=fixed) == sent(protocol, options, fixed)
    assert refused(protocol, options, {name: 12345}, fixed=fixed) == [f"params.provider_options.{name}"]


@pytest.mark.parametrize(("protocol", "options", "given", "path"), OPERATORS)
def test_the_operators_own_fields_may_be_fixed(protocol, options, given, path) -> None:
    assert expression.complaints(ADAPTERS[protocol], target(protocol, options, fixed=given)) == []
    assert sent(protocol, options, {}, fixed=given) == sent(protocol, options, given, extra_fields=[path])


def test_no_field_that_decides_the_price_is_fixed() -> None:
    for protocol, options, name in [
        ("ark_content_tasks", {}, "duration"),
        ("ark_content_tasks", {}, "frames"),
        ("openai_videos", {}, "seconds"),
        ("dashscope_video", {}, "resolution"),
        ("kling_tasks", V1, "mode"),
        ("openrouter_videos", {}, "generate_audio"),
        ("runway", {}, "ratio"),
        ("http_template", {"template": "fal_video"}, "duration"),
    ]:
        (complaint,) = expression.complaints(ADAPTERS[protocol], target(protocol, options, fixed={name: 5}))
        assert complaint.startswith(f"fixed.{name}: "), protocol


@pytest.mark.parametrize(("protocol", "options", "place"), PLACES)
def test_a_prompt_with_a_command_of_seedance_is_refused_where_seedance_may_read_it(protocol, options, place) -> None:
    request = video_request(prompt="a fox runs --dur 12")
    found = [p.field for p in expression.check(ADAPTERS[protocol], request, target(protocol, options))]
    assert found == (["params.prompt"] if protocol in OBEYING and options != MINIMAX else [])
    plain: TaskRequest = video_request(prompt="a fox -- and an owl -- run")
    assert expression.check(ADAPTERS[protocol], plain, target(protocol, options)) == []
