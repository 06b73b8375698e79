"""Requests of `dashscope_image`: what can be expressed, and what is sent. Pure.

`extra_body` is merged into `parameters`, where the provider has all its settings: negative_prompt, prompt_extend, seed,
watermark (false unless set), enable_sequential and what else a model knows.
Capabilities: `tiers` and `ratios` (restrict), `size_table` (replaces SIZES), `max_n`, `max_images`, `prompt_max`,
`data_url`.
"""

from collections.abc import Iterator
from typing import Any

from adapters.base import Billed, Target, TaskRequest, Unsupported, UpstreamRequest
from adapters.kit import checks, inline, references, tiers
from adapters.kit.sizes import DEFAULT_RATIO, SizeTable, by_area, tier_of, with_portraits

SYNC_PATH = "/services/aigc/multimodal-generation/generation"
ASYNC_PATH = "/services/aigc/image-generation/generation"
MAX_N = 6
MAX_SEQUENCE = 12  # with enable_sequential, the pictures of one story
MAX_IMAGES = 10
RATIOS = ("1:1", "16:9", "4:3", "3:2", "5:4", "21:9")
# The current models take any size up to 2048² pixels, which these nearly reach at 2K.
LANDSCAPES = {
    "1K": "1024x1024 1360x768 1168x880 1248x832 1136x912 1552x656",
    "2K": "2048x2048 2720x1536 2352x1760 2496x1664 2288x1824 3120x1328",
}
SIZES = with_portraits({tier: dict(zip(RATIOS, row.split(), strict=True)) for tier, row in LANDSCAPES.items()})
# Not settings of a model: the request itself, where it goes, and the shape of the answer.
FORBIDDEN = (
    *("model", "input", "parameters", "messages", "prompt", "image", "images", "function"),
    *("stream", "incremental_output", "webhook", "webhook_url", "callback_url"),
    *("enable_interleave", "max_images"),  # text with as many pictures as the model likes, whatever `n` says
)


def problems(request: TaskRequest, target: Target) -> Iterator[Unsupported]:
    """Why the protocol, or the model behind it, cannot express the request."""
    capabilities = target.capabilities
    limit = MAX_SEQUENCE if request.extra_body.get("enable_sequential") is True else MAX_N
    yield from checks.images(request, capabilities, max_n=limit, max_images=MAX_IMAGES, types=references.TYPES)
    yield from tiers.tabled(request, capabilities, tiers.size_table(capabilities, SIZES))
    yield from checks.ours(request, FORBIDDEN)


def build(request: TaskRequest, target: Target) -> UpstreamRequest:
    """One message with the images and then the text. `extra_body` wins over every derived parameter.

    With neither tier nor ratio no `size` is sent: the provider chooses, and no tier is billed.
    """
    table = tiers.size_table(target.capabilities, SIZES)
    tier = tiers.asked(request, target.capabilities, by_area(table))
    derived: dict[str, Any] = {"n": request.n, "watermark": False}
    if "size" in request.extra_body:
        tier = _tier_of(request.extra_body["size"], table)
    elif tier is not None:
        derived["size"] = table[tier][request.aspect_ratio or DEFAULT_RATIO].replace("x", "*")
    parameters = {**derived, **request.extra_body}
    content = [*({"image": link} for link in inline.links(request.images)), {"text": request.prompt}]
    return UpstreamRequest(
        path=ASYNC_PATH if is_async(target) else SYNC_PATH,
        body={
            "model": target.upstream_model,
            "input": {"messages": [{"role": "user", "content": content}]},
            "parameters": parameters,
        },
        billed=Billed(count=parameters["n"], tier=tier),
        files=inline.files_of(request.images),
    )


def is_async(target: Target) -> bool:
    return target.options.get("mode") == "async"


def _tier_of(size: object, table: SizeTable) -> str | None:
    """Of a size in the provider's words: "2048*2048", or the name of a tier."""
    if not isinstance(size, str):
        return None
    return size if size in table else tier_of(size.replace("*", "x"), table)
