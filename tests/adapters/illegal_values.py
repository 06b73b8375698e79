"""The fields of every image protocol that bear on count or size, each with values that it never has."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TEXTS = ["junk", "", " ", "0", "-1", "1e400", "NaN", "null", "1k ", "1K\n", "１Ｋ", "1K\u200b", "0x0", "1024x", "1:0"]
TEXTS += ["01024x1024", "1024×1024", "-1024x1024", "123456x123456", "0:1", "x" * 5_000, "🦊"]
NUMBERS = [0, -1, 1.5, 2**62, -(2**62)]
JUNK: list[Any] = [*TEXTS, *NUMBERS, True, False, [], {}, ["1K"], [1024, 1024], [[]], {"1K": 1}]
NO_COUNTS: list[Any] = [*TEXTS, 0, -1, 1.5, True, [], {}, [1], {"n": 1}]
NO_SWITCHES: list[Any] = [*TEXTS, *NUMBERS, "true", [], {}, [True]]
NO_OBJECTS: list[Any] = [*TEXTS, *NUMBERS, True, [], ["1K"], [{"width": 512, "height": 512}]]
NO_SIDES: list[Any] = [*TEXTS, 0, -1, 1.5, 100_000, 2**62, True, [], {}, [512]]
HALVES: list[Any] = [{}, {"width": 512}, {"height": 512}]
NO_SQUARES: list[Any] = [{"width": side, "height": 512} for side in NO_SIDES]
SQUARES = {"size_table": {"1K": {"1:1": "1024x1024"}, "2K": {"1:1": "2048x2048"}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A channel, and what each of its fields never is."""

    adapter: str
    never: Mapping[str, list[Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)


def described(maps: Mapping[str, Any] | None = None, **body: Any) -> dict[str, Any]:
    """The options of a described provider of pictures with this body."""
    template = {
        "modalities": ["image"],
        "submit": {"path": "/draw", "body": {"prompt": "{prompt}", "n": "{n}", **body}},
        "result": {"outputs": "data[].url"},
        "probe": "/models",
    }
    return {"template": template | ({"maps": maps} if maps else {})}


SIZES_OF_GEMINI = [*JUNK, "1k", "0.5K", "8K", "1024x1024"]
SIZES_OF_DASHSCOPE = [*JUNK, "1k", "1024x1024", "1x024*1024"]
PROTOCOLS = {
    "openai": Protocol(adapter="openai_images", never={"size": [*JUNK, "1K", "1:1", "1024*1024"], "n": NO_COUNTS}),
    "xai": Protocol(
        adapter="openai_images",
        options={"dialect": "xai"},
        never={"resolution": [*JUNK, "1K", "1024x1024"], "n": NO_COUNTS, "aspect_ratio": JUNK},
    ),
    "ark": Protocol(adapter="ark_images", never={"size": [*JUNK, "1k", "1:1", "1024*1024"]}),
    "gemini": Protocol(
        adapter="gemini_generate_content",
        never={
            "imageConfig": NO_OBJECTS,
            "imageConfig.imageSize": SIZES_OF_GEMINI,
            "imageConfig.aspectRatio": [*JUNK, "auto"],
            "generationConfig": NO_OBJECTS,
            "generationConfig.imageConfig": NO_OBJECTS,
            "generationConfig.imageConfig.imageSize": SIZES_OF_GEMINI,
            "generationConfig.imageConfig.aspectRatio": JUNK,
        },
    ),
    "dashscope": Protocol(
        adapter="dashscope_image",
        never={
            "size": SIZES_OF_DASHSCOPE,
            "n": NO_COUNTS,
            "enable_sequential": NO_SWITCHES,
            "parameters": NO_OBJECTS,
            "parameters.size": SIZES_OF_DASHSCOPE,
            "parameters.n": NO_COUNTS,
            "parameters.enable_sequential": NO_SWITCHES,
        },
    ),
    "openrouter": Protocol(
        adapter="openrouter_images",
        never={
            "size": [*JUNK, "1k", "0.5K"],
            "resolution": [*JUNK, "1k", "1024x1024"],
            "n": NO_COUNTS,
            "aspect_ratio": JUNK,
        },
    ),
    "fal": Protocol(
        adapter="http_template",
        options={"template": "fal_image"},
        capabilities=SQUARES,
        never={
            "image_size": [*NO_OBJECTS, *HALVES, *NO_SQUARES],
            "num_images": NO_COUNTS,
        },
    ),
    "replicate": Protocol(
        adapter="http_template",
        options={"template": "replicate_image"},
        capabilities=SQUARES,
        never={"input": [*NO_OBJECTS, {"prompt": "an owl", "num_outputs": 1, "width": 512}, *NO_SQUARES]},
    ),
    "words": Protocol(
        adapter="http_template",
        options=described(size="{size}", tier="{image_size}", shape="{aspect_ratio}", opts={"pixels": ["{size}"]}),
        capabilities=SQUARES,
        never={
            "size": JUNK,
            "tier": JUNK,
            "shape": JUNK,
            "n": NO_COUNTS,
            "opts": NO_OBJECTS,
            "opts.pixels": [*JUNK, "1024x1024", ["1024x1024", "junk"]],
        },
    ),
    "numbers": Protocol(
        adapter="http_template",
        options=described(width="{width}", height="{height}"),
        capabilities=SQUARES,
        never={"width": NO_SIDES, "height": NO_SIDES},
    ),
    "mixed": Protocol(
        adapter="http_template",
        options=described(size="{width}*{height}"),
        capabilities=SQUARES,
        never={"size": [*JUNK, "1024x1024"]},
    ),
    "mapped": Protocol(
        adapter="http_template",
        options=described(maps={"image_size": {"1K": "square", "2K": 2048}}, dims="{image_size}"),
        capabilities={"ratios": ["1:1"]},
        never={"dims": [*JUNK, "1K", "Square", 1024, "2048"]},
    ),
}


def nested(path: str, value: Any) -> dict[str, Any]:
    """An `extra_body` with the value at a path."""
    first, _, rest = path.partition(".")
    return {first: nested(rest, value) if rest else value}
