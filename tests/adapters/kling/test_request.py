"""What a video request becomes in the Kling protocol, and what cannot be expressed."""

from itertools import cycle
from typing import Any

from adapters.base import Billed, MediaInput, Target, TaskRequest, UpstreamRequest
from adapters.registry import ADAPTERS
from tests.adapters.making import video_request

adapter = ADAPTERS["kling_tasks"]
V3: dict[str, str] = {}
V1 = {"api": "v1"}
OPTIONS = {"watermark_info": {"enabled": False}}


def target(options: dict[str, str] = V3, **capabilities: Any) -> Target:
    return Target(
        adapter="kling_tasks",
        base_url="https://kling.example.com",
        upstream_model="kling/3",
        capabilities=capabilities,
        options=options,
    )


def item(kind: str, role: str, name: str | None = None) -> MediaInput:
    url = f"https://x.example.com/{kind}-{role}"
    return MediaInput(type=kind, role=role, url=url, id=name)  # type: ignore[arg-type]


FIRST, LAST = item("image", "first_frame"), item("image", "last_frame")
IMAGE, VIDEO, AUDIO = item("image", "reference"), item("video", "reference"), item("audio", "reference")


def built(options: dict[str, str] = V3, capabilities: dict[str, Any] | None = None, **fields: Any) -> UpstreamRequest:
    request, aim = video_request(**fields), target(options, **(capabilities or {}))
    assert adapter.check(request, aim) == []
    return adapter.build(request, aim)


def fields(request: TaskRequest, options: dict[str, str] = V3, **capabilities: Any) -> list[str]:
    return [problem.field for problem in adapter.check(request, target(options, **capabilities))]


def test_text_alone_goes_to_its_own_endpoint() -> None:
    upstream = built()
    assert (upstream.path, upstream.encoding, upstream.calls) == ("/text-to-video/kling%2F3", "json", 1)
    assert upstream.body == {
        "prompt": "a fox",
        "settings": {
            "duration": 5,
            "resolution": "720p",
            "aspect_ratio": "16:9",
            "audio": "off",
            "multi_shot": False,
        },
        "options": OPTIONS,
    }
    assert upstream.billed == Billed(count=1, tier="720p")


def test_frames_go_to_their_own_endpoint_and_decide_the_ratio() -> None:
    upstream = built(inputs=(FIRST, LAST), aspect_ratio="adaptive", generate_audio=True, resolution="4k", duration=15)
    assert upstream.path == "/image-to-video/kling%2F3"
    assert upstream.body == {
        "contents": [
            {"type": "prompt", "text": "a fox"},
            {"type": "first_frame", "url": FIRST.url},
            {"type": "last_frame", "url": LAST.url},
        ],
        "settings": {"duration": 15, "resolution": "4k", "audio": "native", "multi_shot": False},
        "options": OPTIONS,
    }


def test_references_go_to_their_own_endpoint_under_names() -> None:
    named = item("image", "reference", "fox")
    upstream = built(inputs=(IMAGE, named, VIDEO))
    assert upstream.path == "/omni-video/kling%2F3"
    assert upstream.body["contents"][1:] == [
        {"type": "refer_image", "url": IMAGE.url, "id": "image_1"},
        {"type": "refer_image", "url": named.url, "id": "fox"},
        {"type": "feature_video", "url": VIDEO.url, "id": "video_1"},
    ]
    assert upstream.body["settings"] == {
        "duration": 5,
        "resolution": "720p",
        "aspect_ratio": "16:9",
        "audio": "off",
        "multi_shot": True,
    }


def test_a_model_of_the_reference_endpoint_gets_everything_there() -> None:
    omni = {"endpoint": "omni"}
    text = built(capabilities=omni)
    frames = built(capabilities=omni, inputs=(FIRST, LAST), aspect_ratio="adaptive")
    assert {text.path, frames.path} == {"/omni-video/kling%2F3"}
    assert text.body["contents"] == [{"type": "prompt", "text": "a fox"}]
    assert [part.get("id") for part in frames.body["contents"]] == [None, "image_1", "image_2"]


def test_frames_and_references_go_together_where_the_model_takes_them() -> None:
    upstream = built(capabilities={"frames_exclusive_refs": False}, inputs=(FIRST, IMAGE), aspect_ratio="adaptive")
    assert upstream.path.startswith("/omni-video/")
    assert [part["type"] for part in upstream.body["contents"]] == ["prompt", "first_frame", "refer_image"]


def test_a_ratio_beside_frames_is_sent_where_the_model_takes_one() -> None:
    upstream = built(capabilities={"ratio_with_frames": True}, inputs=(FIRST,), aspect_ratio="9:16")
    assert upstream.body["settings"]["aspect_ratio"] == "9:16"


def test_sound_is_sent_in_so_many_words_where_there_is_a_switch() -> None:
    for asked, mode, sent in [
        (None, "switch", "off"),
        (False, "switch", "off"),
        (True, "switch", "native"),
        (None, "always", None),
        (True, "always", None),
        (None, "never", None),
    ]:
        words = {"native": "on", "off": "off", None: None}
        capabilities = {"audio": mode}
        assert built(capabilities=capabilities, generate_audio=asked).body["settings"].get("audio") == sent
        assert built(V1, capabilities, generate_audio=asked).body.get("sound") == words[sent], (asked, mode)


def test_a_model_without_shots_is_not_asked_about_them() -> None:
    assert "multi_shot" not in built(capabilities={"multi_shot": False}).body["settings"]


def test_several_shots_are_an_option() -> None:
    assert built(provider_options={"multi_shot": True}).body["settings"]["multi_shot"] is True


def test_text_in_the_older_generation() -> None:
    upstream = built(V1, resolution="1080p", provider_options={"negative_prompt": "rain", "cfg_scale": 0.5})
    assert upstream.path == "/v1/videos/text2video"
    assert upstream.body == {
        "model_name": "kling/3",
        "prompt": "a fox",
        "mode": "pro",
        "duration": "5",
        "aspect_ratio": "16:9",
        "sound": "off",
        "negative_prompt": "rain",
        "cfg_scale": 0.5,
    }


def test_frames_in_the_older_generation() -> None:
    upstream = built(V1, inputs=(FIRST, LAST), aspect_ratio="adaptive", generate_audio=True)
    assert upstream.path == "/v1/videos/image2video"
    assert upstream.body == {
        "model_name": "kling/3",
        "prompt": "a fox",
        "mode": "std",
        "duration": "5",
        "sound": "on",
        "image": FIRST.url,
        "image_tail": LAST.url,
    }


def test_references_in_the_older_generation() -> None:
    upstream = built(V1, inputs=(IMAGE, VIDEO))
    assert upstream.path == "/v1/videos/omni-video"
    assert upstream.body["image_list"] == [{"image_url": IMAGE.url}]
    assert upstream.body["video_list"] == [{"video_url": VIDEO.url, "refer_type": "feature"}]
    frames = built(V1, {"endpoint": "omni"}, inputs=(FIRST, LAST), aspect_ratio="adaptive").body
    assert frames["image_list"] == [
        {"image_url": FIRST.url, "type": "first_frame"},
        {"image_url": LAST.url, "type": "end_frame"},
    ]
    assert "video_list" not in frames


def test_what_cannot_be_expressed_is_named() -> None:
    """By turns in either generation: both ask the same function."""
    cases: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = [
        ({"prompt": "x" * 3072}, {}, []),
        ({"prompt": "x" * 3073}, {}, ["params.prompt"]),
        ({"prompt": "x" * 3073}, {"prompt_max": 9999}, ["params.prompt"]),
        ({"duration": 3}, {}, []),
        ({"duration": 30}, {}, []),
        ({"duration": 2}, {}, ["params.duration"]),
        ({"duration": 31}, {}, ["params.duration"]),
        ({"duration": 31}, {"durations": [31]}, ["params.duration"]),
        ({"duration": 6}, {"durations": [5, 10]}, ["params.duration"]),
        ({"resolution": "480p"}, {}, ["params.resolution"]),
        ({"resolution": "480p"}, {"resolutions": ["480p"]}, ["params.resolution"]),
        ({"aspect_ratio": "21:9"}, {}, []),
        ({"aspect_ratio": "adaptive"}, {}, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,)}, {}, ["params.aspect_ratio"]),
        ({"inputs": (FIRST,)}, {"ratio_with_frames": True}, []),
        ({"inputs": (IMAGE,)}, {}, []),
        ({"inputs": (LAST,), "aspect_ratio": "adaptive"}, {}, ["params.inputs[0].role"]),
        ({"inputs": (FIRST, FIRST), "aspect_ratio": "adaptive"}, {}, ["params.inputs[1].role"]),
        ({"inputs": (FIRST, IMAGE), "aspect_ratio": "adaptive"}, {}, ["params.inputs[1].role"]),
        ({"inputs": (IMAGE, AUDIO)}, {}, ["params.inputs[1].role"]),
        ({"inputs": (VIDEO, VIDEO)}, {}, ["params.inputs[1].role"]),
        ({"inputs": (IMAGE,) * 10}, {}, []),
        ({"inputs": (IMAGE,) * 11}, {}, ["params.inputs[10].role"]),
        ({"inputs": (VIDEO,), "generate_audio": True}, {}, ["params.generate_audio"]),
    ]
    for (changes, capabilities, wanted), options in zip(cases, cycle((V3, V1)), strict=False):
        assert fields(video_request(**changes), options, **capabilities) == wanted, (options, changes, capabilities)


def test_an_option_that_is_unknown_derived_or_wrong_skips_the_route() -> None:
    for options, name, value in [
        (V3, "multi_shot", "yes"),
        (V3, "negative_prompt", "rain"),
        (V3, "seed", 1),
        (V3, "watermark", True),
        (V3, "settings", {}),
        (V3, "external_task_id", "x"),
        (V3, "callback_url", "https://x.example.com"),
        (V1, "multi_shot", True),
        (V1, "cfg_scale", 2),
        (V1, "cfg_scale", True),
        (V1, "mode", "pro"),
        (V1, "external_task_id", "x"),
    ]:
        assert fields(video_request(provider_options={name: value}), options) == [f"params.provider_options.{name}"]


def test_shots_are_no_option_of_a_model_without_them() -> None:
    asked = video_request(provider_options={"multi_shot": True})
    assert fields(asked, multi_shot=False) == ["params.provider_options.multi_shot"]
