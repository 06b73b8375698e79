"""Commands in prompts are found however they are written, and ordinary dashes are none."""

import pytest

from adapters.kit import prompt_commands


@pytest.mark.parametrize(
    ("prompt", "command"),
    [
        ("a fox --rs 1080p", "--rs"),
        ("a fox --dur 10", "--dur"),
        ("a fox --dur=5", "--dur"),
        ("a fox --dur5", "--dur"),
        ("--RS 1080p a fox", "--RS"),
        ("a fox--dur 10", "--dur"),
        ("a fox\n--duration 10", "--duration 1"),
        ("a fox --Resolution 4k", "--Resolution 4"),
        ("a fox --ratio 16:9", "--ratio 1"),
        ("a fox--frames 289", "--frames 2"),
        ("a fox --seed -1", "--seed -1"),
        ("a fox --watermark true", "--watermark true"),
        ("a fox --audio", "--audio"),
        ("a fox --noaudio", "--noaudio"),
        ("a fox --framepersecond 24", "--framepersecond"),
        ("a fox --fps 60", "--fps"),
        ("a fox --camerafixed true --cf", "--camerafixed"),
        ("ein Fuchs（--wm false）", "--wm"),
        ("a fox ---rt 1:1", "--rt"),
        ("狐狸--dur 10", "--dur"),
        ("fox--duration\u300010", "--duration\u30001"),
        ("fox--watermark\u00a0false", "--watermark\u00a0false"),
    ],
)
def test_a_command_is_found(prompt: str, command: str) -> None:
    assert prompt_commands.seedance(prompt) == command


@pytest.mark.parametrize(
    "prompt",
    [
        "a fox -- running -- in snow",
        "a garden--seed pods everywhere",
        "the tree--frames of gold--stands",
        "a well-lit room, 16:9, 24 fps",
        "a rs-232 port, -rs, - dur",
        "--seedlings --duress --rsvp --cfo --wmd",
        "an audio--visual show",
        "---",
        "",
    ],
)
def test_ordinary_dashes_are_none(prompt: str) -> None:
    assert prompt_commands.seedance(prompt) is None
