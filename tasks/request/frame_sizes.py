"""`size` of a video request in OpenAI's words, as a ratio and a resolution. Pure."""

from collections.abc import Collection, Sequence
from math import gcd

from adapters.kit.sizes import SizeTable, sides
from tasks.request.fields import refuse
from tasks.request.pixel_sizes import nearest

# What models of which nobody has said their ratios have in common.
COMMON = ("16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21")


def ratio_and_resolution(size: object, ratios: Collection[str], tables: Sequence[SizeTable]) -> tuple[str, str]:
    """(aspect_ratio, resolution) of "WIDTHxHEIGHT": the reduced ratio, or the nearest of `ratios` within 2 %, and the
    short side as `720p`. What one of the routes' `tables` lists is the resolution and the ratio that it is listed as.

    `ratios` and `tables` are of `catalog.pixel_sizes`. Whether the model has them is for its routes to say. Raises
    InvalidRequest, which names `size`, for what is no size.
    """
    pair = sides(size)
    if pair is None:
        refuse("size", "must be WIDTHxHEIGHT in pixels, such as 1280x720")
    width, height = pair
    for table in tables:
        for resolution, row in table.items():
            for ratio, known in row.items():
                if known == size:
                    return ratio, resolution
    return _ratio(width, height, ratios), f"{min(width, height)}p"


def _ratio(width: int, height: int, ratios: Collection[str]) -> str:
    common = gcd(width, height)
    reduced = f"{width // common}:{height // common}"
    if reduced in ratios:
        return reduced
    return nearest(width, height, ratios or COMMON) or reduced
