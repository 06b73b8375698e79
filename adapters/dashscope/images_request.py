"""Requests of `dashscope_image`: what can be expressed, and what is sent. Pure.

`extra_body` goes to the root of the request, and settings by their own names into `parameters`, where the provider has
all of them; `watermark` is false unless set.
Capabilities: `tiers` and `ratios` (restrict), `size_table` (replaces SIZES), `max_n`, `max_images`, `prompt_max`,
`data_url`.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.dashscope.images_fields import MAX_IMAGES
from adapters.kit import checks, inline, references
from adapters.kit.checks import FinalCount
from adapters.kit.settings import SettingsObject
from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, by_area, tier_of, with_portraits

SYNC_PATH = "/services/aigc/multimodal-generation/generation"
ASYNC_PATH = "/services/aigc/image-generation/generation"
MAX_N = 6
MAX_SEQUENCE = 12  # with enable_sequential, the pictures of one story
# How many pictures the models of these names make without `n`, of Wan at most; of other models nobody knows.
DEFAULT_N = {"qwen-image": 1, "z-image": 1, "wan": 4}
RATIOS = ("1:1", "16:9", "4:3", "3:2", "5:4", "21:9")
# The current models take any size up to 2048² pixels, which these nearly reach at 2K.
LANDSCAPES = {
    "1K": "1024x1024 1360x768 1168x880 1248x832 1136x912 1552x656",
    "2K": "2048x2048 2720x1536 2352x1760 2496x1664 2288x1824 3120x1328",
}
SIZES = with_portraits({tier: dict(zip(RATIOS, row.split(), strict=True)) for tier, row in LANDSCAPES.items()})
SETTINGS = SettingsObject(
    place="parameters",
    names=frozenset(
        {"n", "size", "enable_sequential", "thinking_mode", "prompt_extend", "negative_prompt", "seed", "watermark"}
        | {"bbox_list", "color_palette", "style", "ref_strength", "ref_mode", "similarity", "sketch_weight"}
        | {"realisticness"}
    ),
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    capabilities, extra = target.capabilities, request.extra_body
    if refused := [*SETTINGS.problems(extra)]:
        yield from refused
        return
    parameters = SETTINGS.merged({"parameters": _derived(request)}, extra)["parameters"]
    yield from checks.images(
        request,
        capabilities,
        max_n=MAX_SEQUENCE if _is_story(parameters) else MAX_N,
        max_images=MAX_IMAGES,
        types=() if "input" in extra else references.TYPES,
        count=_count(request, target, parameters),
    )
    if not _is_size_given(extra):
        yield from checks.tabled(request, capabilities, capabilities.get("size_table", SIZES))


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """One message with the images and then the text; an `input` of `extra_body` stands for both. `extra_body` wins over
    every derived field.

    With neither tier nor ratio no `size` is sent: the provider chooses, and no tier is billed.
    """
    table = target.capabilities.get("size_table", SIZES)
    tier = checks.asked_tier(request, target.capabilities, partial(by_area, table))
    is_size_given = _is_size_given(request.extra_body)
    size = None if tier is None or is_size_given else table[tier][request.aspect_ratio or DEFAULT_RATIO]
    images = () if "input" in request.extra_body else request.images
    content = [*({"image": link} for link in inline.links(images)), {"text": request.prompt}]
    derived = {"input": {"messages": [{"role": "user", "content": content}]}, "parameters": _derived(request, size)}
    body = SETTINGS.merged(derived, request.extra_body)
    count = _count(request, target, body["parameters"])
    if is_size_given:
        tier = _tier_of(body["parameters"].get("size"), table)
    return UpstreamRequest(
        path=ASYNC_PATH if is_async(target) else SYNC_PATH,
        body={**body, "model": target.upstream_model},
        billed=Billed(count=count.value, tier=tier, count_field=count.field),
        files=inline.files_of(images),
    )


def _derived(request: TaskRequest, size: str | None = None) -> dict[str, Any]:
    return {"n": request.n, "watermark": False, **({"size": size.replace("x", "*")} if size else {})}


def _count(request: TaskRequest, target: Target, parameters: Mapping[str, Any]) -> FinalCount:
    """Of the final parameters."""
    extra = request.extra_body
    field = SETTINGS.path(extra, "n") if "n" in extra or SETTINGS.is_replaced(extra) else "params.n"
    if "n" in parameters:
        return FinalCount(field=field, value=parameters["n"])
    usual = next((n for name, n in DEFAULT_N.items() if target.upstream_model.startswith(name)), None)
    return FinalCount(field=field, value=MAX_SEQUENCE if _is_story(parameters) else usual)


def _is_story(parameters: Mapping[str, Any]) -> bool:
    return parameters.get("enable_sequential") is True


def _is_size_given(extra_body: Mapping[str, Any]) -> bool:
    """Whether `extra_body` stands for tier and ratio."""
    return SETTINGS.is_replaced(extra_body) or "size" in extra_body


def is_async(target: Target) -> bool:
    return target.options.get("mode") == "async"


def _tier_of(size: object, table: SizeTable) -> str | None:
    """Of a size in the provider's words: "2048*2048", or the name of a tier."""
    if not isinstance(size, str):
        return None
    return size if size in table else tier_of(size.replace("*", "x"), table)
