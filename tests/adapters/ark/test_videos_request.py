"""What a video request becomes upstream, and what cannot be expressed."""

from typing import Any

from adapters.base import Billed, MediaInput, TaskRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import video_request, video_target

adapter = ADAPTERS["ark_content_tasks"]


def item(kind: str, role: str) -> MediaInput:
    return MediaInput(type=kind, role=role, url=f"https://x.example.com/{kind}-{role}")  # type: ignore[arg-type]


FIRST, LAST = item("image", "first_frame"), item("image", "last_frame")
IMAGE, VIDEO, AUDIO = item("image", "reference"), item("video", "reference"), item("audio", "reference")


def fields(request: TaskRequest, **capabilities: Any) -> list[str]:
    return [problem.field for problem in adapter.check(request, video_target(**capabilities))]


def test_a_text_request_is_the_documented_body() -> None:
    upstream = adapter.build(video_request(), video_target())
    assert (upstream.path, upstream.encoding) == ("/contents/generations/tasks", "json")
    assert upstream.body == {
        "model": "seedance-2",
        "content": [{"type": "text", "text": "a fox"}],
        "duration": 5,
        "resolution": "720p",
        "ratio": "16:9",
        "generate_audio": False,
    }
    assert upstream.billed == Billed(count=1, tier="720p")


def test_frames_carry_their_roles_in_order() -> None:
    content = adapter.build(video_request(inputs=(FIRST, LAST)), video_target()).body["content"]
    assert content[1:] == [
        {"type": "image_url", "image_url": {"url": FIRST.url}, "role": "first_frame"},
        {"type": "image_url", "image_url": {"url": LAST.url}, "role": "last_frame"},
    ]


def test_references_of_every_type_carry_their_roles() -> None:
    content = adapter.build(video_request(inputs=(IMAGE, VIDEO, AUDIO)), video_target()).body["content"]
    assert [(part["type"], part["role"]) for part in content[1:]] == [
        ("image_url", "reference_image"),
        ("video_url", "reference_video"),
        ("audio_url", "reference_audio"),
    ]
    assert content[3]["audio_url"] == {"url": AUDIO.url}


def test_sound_is_sent_in_so_many_words() -> None:
    for asked, mode, sent in [
        (None, None, False),
        (False, None, False),
        (True, None, True),
        (True, "switch", True),
        (None, "always", True),
        (True, "always", True),
    ]:
        target = video_target(**({"audio": mode} if mode else {}))
        assert adapter.build(video_request(generate_audio=asked), target).body["generate_audio"] is sent, (asked, mode)


def test_a_model_without_sound_is_not_asked_about_it() -> None:
    assert "generate_audio" not in adapter.build(video_request(), video_target(audio="never")).body


def test_known_options_are_merged() -> None:
    options = {"watermark": True, "seed": -1, "return_last_frame": True, "tools": [{"type": "web_search"}]}
    assert fields(video_request(provider_options=options)) == []
    body = adapter.build(video_request(provider_options=options), video_target()).body
    assert {name: body[name] for name in options} == options


def test_derived_and_unknown_options_skip_the_route() -> None:
    for name in [
        "content",
        "ratio",
        "frames",
        "duration",
        "resolution",
        "generate_audio",
        "callback_url",
        "model",
        "size",
    ]:
        assert fields(video_request(provider_options={name: 1})) == [f"params.provider_options.{name}"], name


def test_an_option_of_the_wrong_type_skips_the_route() -> None:
    for name, value in [("watermark", "yes"), ("seed", 1.5), ("priority", True), ("tools", {}), ("service_tier", "")]:
        wanted = [f"params.provider_options.{name}"]
        assert fields(video_request(provider_options={name: value})) == wanted, (name, value)


def test_capabilities_bound_what_is_taken() -> None:
    for changes, capabilities, wanted in [
        ({"duration": 6}, {"durations": [5, 10]}, ["params.duration"]),
        ({"duration": 3}, {"durations": {"min": 4, "max": 12}}, ["params.duration"]),
        ({"duration": 13}, {"durations": {"max": 12}}, ["params.duration"]),
        ({"duration": 4}, {"durations": {"min": 4, "max": 12}}, []),
        ({"duration": 86_400}, {}, []),
        ({"resolution": "4k"}, {"resolutions": ["720p"]}, ["params.resolution"]),
        ({"resolution": "768P"}, {}, []),
        ({"aspect_ratio": "9:21"}, {"ratios": ["16:9"]}, ["params.aspect_ratio"]),
        ({"prompt": "xx"}, {"prompt_max": 1}, ["params.prompt"]),
        ({"generate_audio": True}, {"audio": "never"}, ["params.generate_audio"]),
        ({"generate_audio": False}, {"audio": "always"}, ["params.generate_audio"]),
        ({"generate_audio": None}, {"audio": "always"}, []),
        ({"inputs": (FIRST, IMAGE)}, {}, ["params.inputs[1].role"]),
        ({"inputs": (FIRST, IMAGE)}, {"frames_exclusive_refs": False}, []),
        ({"inputs": (LAST,)}, {}, ["params.inputs[0].role"]),
        ({"inputs": (LAST, FIRST)}, {}, []),
        ({"inputs": (AUDIO,)}, {}, ["params.inputs[0].role"]),
        ({"inputs": (AUDIO, VIDEO)}, {}, []),
        ({"inputs": (IMAGE,) * 3}, {"max_inputs": 2}, ["params.inputs"]),
        ({"inputs": (IMAGE, IMAGE)}, {"roles": {"reference_image": 1}}, ["params.inputs[1].role"]),
        ({"inputs": (IMAGE, VIDEO)}, {"roles": {"reference_image": 1}}, ["params.inputs[1].role"]),
        ({"inputs": (FIRST,)}, {"roles": {"first_frame": 1}}, []),
        ({"inputs": (IMAGE,) * 16}, {}, []),
    ]:
        assert fields(video_request(**changes), **capabilities) == wanted, (changes, capabilities)
