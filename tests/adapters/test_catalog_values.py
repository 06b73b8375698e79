"""What adapters say about an operator's options and capabilities."""

from dataclasses import replace

from adapters.base import Target
from adapters.registry import ADAPTERS
from tests.adapters.making import image_target, video_target


def complaints(target: Target) -> list[str]:
    return ADAPTERS[target.adapter].validate(target)


def test_good_values_pass() -> None:
    for target in [
        image_target(),
        image_target(
            tiers=["1K"], ratios=["1:1"], max_n=4, max_images=0, prompt_max=10, size_table={"1K": {"1:1": "8x8"}}
        ),
        replace(image_target(), options={"dialect": "openai"}),
        video_target(),
        video_target(durations=[5], resolutions=["720p"], ratios=["1:1"], roles={"first_frame": 1}, audio="never"),
        video_target(durations={"min": 4}, frames_exclusive_refs=False, prompt_max=500, max_inputs=9),
        replace(video_target(), options={"poll_seconds": 0.2}),
    ]:
        assert complaints(target) == [], target


def test_a_bad_value_is_named() -> None:
    for target, start in [
        (image_target(teirs=["1K"]), "capabilities.teirs: unknown"),
        (image_target(tiers="1K"), "capabilities.tiers: must be"),
        (image_target(tiers=[]), "capabilities.tiers: must be"),
        (image_target(max_n=0), "capabilities.max_n: must be"),
        (image_target(max_n=True), "capabilities.max_n: must be"),
        (image_target(size_table={"1K": {"1:1": "big"}}), "capabilities.size_table: must be"),
        (image_target(size_table={"1K": {"1:1": 1024}}), "capabilities.size_table: must be"),
        (image_target(size_table={}), "capabilities.size_table: must be"),
        (replace(image_target(), options={"dialect": "relay"}), "options.dialect: must be"),
        (replace(image_target(), options={"poll_seconds": 1}), "options.poll_seconds: unknown"),
        (replace(image_target(), base_url="ftp://x"), "base_url: must be"),
        (replace(image_target(), base_url="http://[x"), "base_url: must be"),
        (video_target(durations=5), "capabilities.durations: must be"),
        (video_target(durations={"least": 5}), "capabilities.durations: must be"),
        (video_target(roles={"middle_frame": 1}), "capabilities.roles: must be"),
        (video_target(audio="maybe"), "capabilities.audio: must be"),
        (video_target(audio=["switch"]), "capabilities.audio: must be"),
        (replace(video_target(), options={"poll_seconds": 0.1}), "options.poll_seconds: must be"),
        (replace(video_target(), options={"poll_seconds": "5"}), "options.poll_seconds: must be"),
        (
            replace(image_target(), adapter="dashscope_image", options={"workspace": "a\r\nb"}),
            "options.workspace: must",
        ),
    ]:
        (complaint,) = complaints(target)
        assert complaint.startswith(start), target


def test_the_values_of_each_adapter_are_judged_by_its_rules() -> None:
    """Which adapter has which: docs/adapters.md."""
    for adapter in ADAPTERS.values():
        places = {"capabilities": adapter.capabilities, "options": adapter.options}  # type: ignore[attr-defined]
        for place, name in [(place, name) for place, rules in places.items() for name in rules]:
            (complaint,) = adapter.validate(replace(image_target(), **{place: {name: object()}}))
            assert complaint.startswith(f"{place}.{name}: must be"), adapter.protocol
        for place in places if adapter.protocol != "http_template" else ():
            (complaint,) = adapter.validate(replace(image_target(), **{place: {"else": 1}}))
            assert complaint.startswith(f"{place}.else: unknown"), adapter.protocol


def test_no_value_at_all_breaks_validation() -> None:
    names = ("tiers", "ratios", "size_table", "max_n", "durations", "roles", "audio", "frames_exclusive_refs")
    for value in (None, "x", -1, 0, 1.5, [], {}, [1], [None], {"a": None}, {"min": "x"}, True):
        changes = {"capabilities": dict.fromkeys(names, value), "options": {"dialect": value}}
        for protocol in ADAPTERS:
            assert complaints(replace(image_target(), adapter=protocol, **changes)), (protocol, value)
