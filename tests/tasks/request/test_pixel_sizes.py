"""`size` in pixels: which tier, ratio and resolution it becomes, and what is said where it becomes none."""

import re
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.ark import images_request as ark
from adapters.kit.sizes import SizeTable, largest
from adapters.openai import images_request as openai
from common.errors import InvalidRequest
from tasks.request.frame_sizes import ratio_and_resolution
from tasks.request.pixel_sizes import MOST_NAMED, tier_and_ratio

RATIOS = ["1:1", "16:9", "9:16", "3:2", "2:3"]
WHOLE = {"image_size": {"values": ["1K", "2K"], "default": "1K"}, "aspect_ratio": {"values": RATIOS, "default": "1:1"}}
TIERS_ALONE = {"image_size": WHOLE["image_size"]}
RATIOS_ALONE = {"aspect_ratio": WHOLE["aspect_ratio"]}
OFFERS = [WHOLE, WHOLE | {"image_size": {"values": ["4K"]}}, TIERS_ALONE, RATIOS_ALONE, {}]
TABLES: list[list[SizeTable]] = [[openai.SIZES], [ark.SIZES, openai.SIZES], []]


def refusal(size: object, offered: dict[str, Any] = WHOLE, tables: list[SizeTable] = TABLES[0]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        tier_and_ratio(size, offered, tables)
    assert caught.value.param == "size"
    return caught.value.message


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (None, (None, None)),
        ("auto", (None, None)),
        ("2K", ("2K", None)),
        ("1024x1024", ("1K", "1:1")),
        ("2720x1536", ("2K", "16:9")),  # listed as it is
        ("768x1360", ("1K", "9:16")),
        ("512x512", ("1K", "1:1")),  # the smallest tier has more
        ("1536x1024", ("2K", "3:2")),  # more pixels than any 1K
        ("1792x1024", ("2K", "16:9")),  # 7:4 is 1.6 % from 16:9
        ("1x1", ("1K", "1:1")),
    ],
)
def test_a_size_becomes_a_tier_and_a_ratio(size: object, expected: tuple[str | None, str | None]) -> None:
    assert tier_and_ratio(size, WHOLE, TABLES[0]) == expected


def test_the_best_route_that_lists_a_size_says_what_it_is() -> None:
    tall: SizeTable = {"2K": {"1:1": "1024x1024"}}
    assert tier_and_ratio("1024x1024", WHOLE, [openai.SIZES, tall]) == ("1K", "1:1")
    assert tier_and_ratio("1024x1024", WHOLE, [tall, openai.SIZES]) == ("2K", "1:1")


def test_a_tier_without_a_table_is_its_square_and_what_rounding_adds() -> None:
    assert tier_and_ratio("1024x1024", WHOLE, []) == ("1K", "1:1")
    assert tier_and_ratio("1376x768", WHOLE, []) == ("1K", "16:9")
    assert tier_and_ratio("1050x1050", WHOLE, []) == ("2K", "1:1")


@pytest.mark.parametrize(
    ("offered", "size", "expected"),
    [
        (TIERS_ALONE, "2048x2048", ("2K", None)),  # without a ratio the protocols make squares
        (RATIOS_ALONE, "1360x768", (None, "16:9")),  # without a tier the first that a route has
    ],
)
def test_a_model_that_offers_one_of_both_takes_what_it_makes(
    offered: dict[str, Any], size: str, expected: tuple[str | None, str | None]
) -> None:
    assert tier_and_ratio(size, offered, TABLES[0]) == expected


@pytest.mark.parametrize(
    ("offered", "size"),
    [
        (TIERS_ALONE, "1360x768"),
        (RATIOS_ALONE, "2720x1536"),
        (RATIOS_ALONE, "1000x1000"),
        ({}, "1024x1024"),
        (WHOLE, "1600x1024"),  # 25:16 is nothing that is offered
        (WHOLE, "3840x2160"),  # no tier has so many pixels
        (WHOLE, "4K"),
        (WHOLE, "16:9"),
    ],
)
def test_what_cannot_be_expressed_is_refused(offered: dict[str, Any], size: str) -> None:
    refusal(size, offered)


def test_a_refusal_says_what_would_be_taken() -> None:
    assert refusal("big") == (
        "size must be one of auto, 1K, 2K, or a size that this model can make, such as 1024x1024, 2048x2048, 1360x768, "
        "2720x1536, 768x1360, 1536x2720."
    )
    assert refusal("1024x1024", {}) == "size is not supported by this model; leave it out or send auto."


def test_two_percent_of_the_ratio_that_is_asked_for_is_near_and_no_more() -> None:
    offered = WHOLE | {"aspect_ratio": {"values": ["1:1"]}}
    assert tier_and_ratio("1020x1000", offered, []) == ("1K", "1:1")
    refusal("1021x1000", offered, [])
    assert tier_and_ratio("1000x1020", offered, []) == ("1K", "1:1")


@pytest.mark.parametrize("odd", ["0:1", "1:0", "auto", "adaptive", "1:1:1", "x" * 20])
def test_a_ratio_that_is_none_is_near_to_nothing(odd: str) -> None:
    assert tier_and_ratio("1000x1000", WHOLE | {"aspect_ratio": {"values": [odd, "1.0:1"]}}, []) == ("1K", "1.0:1")


number = st.integers(1, 99_999)
anything = st.one_of(
    st.builds("{}x{}".format, number, number),
    st.text(max_size=30),
    st.sampled_from(["0x0", "0x1024", "01024x1024", "9" * 5000 + "x1", "100000x1", "1024X1024", " 1024x1024", "１x１"]),
    st.one_of(st.integers(), st.booleans(), st.floats(), st.lists(st.text()), st.dictionaries(st.text(), st.text())),
)


def judge(error: InvalidRequest, offered: dict[str, Any], tables: list[SizeTable]) -> None:
    """It is short, names `size`, and all that it says would be taken is."""
    taken = re.findall(r"\d+x\d+", error.message)
    assert (error.param, len(error.message) < 300, len(taken) <= MOST_NAMED) == ("size", True, True)
    for named in taken:
        tier_and_ratio(named, offered, tables)


@given(size=anything, offered=st.sampled_from(OFFERS), tables=st.sampled_from(TABLES))
def test_whatever_is_sent_is_met_or_refused_in_a_few_words(
    size: object, offered: dict[str, Any], tables: list[SizeTable]
) -> None:
    try:
        tier, ratio = tier_and_ratio(size, offered, tables)
    except InvalidRequest as error:
        judge(error, offered, tables)
        return
    assert (tier, ratio) == (None, None) if size == "auto" else (tier, ratio) != (None, None)
    assert tier in (None, *offered.get("image_size", {}).get("values", ()))
    assert ratio in (None, *offered.get("aspect_ratio", {}).get("values", ()))


@given(width=number, height=number)
def test_a_size_is_never_more_than_its_tier_nor_of_another_shape(width: int, height: int) -> None:
    try:
        tier, ratio = tier_and_ratio(f"{width}x{height}", WHOLE, TABLES[0])
    except InvalidRequest:
        return
    assert tier is not None
    assert ratio is not None
    assert width * height <= largest(openai.SIZES[tier])
    assert tier == "1K" or width * height > largest(openai.SIZES["1K"])
    across, down = map(int, ratio.split(":"))
    assert abs(Fraction(across, down) / Fraction(width, height) - 1) <= Fraction(2, 100)


FILMS: SizeTable = {"1080p": {"16:9": "1792x1024"}}


@pytest.mark.parametrize(
    ("size", "ratios", "expected"),
    [
        ("1280x720", ["16:9", "1:1"], ("16:9", "720p")),
        ("720x1280", [], ("9:16", "720p")),
        ("854x480", ["16:9"], ("16:9", "480p")),  # 427:240
        ("854x480", [], ("16:9", "480p")),
        ("1280x1024", ["16:9"], ("5:4", "1024p")),  # for the routes to refuse
        ("1792x1024", [], ("16:9", "1080p")),  # as a table has it
        ("1x99999", [], ("1:99999", "1p")),
    ],
)
def test_a_size_of_a_film_becomes_a_ratio_and_a_resolution(
    size: str, ratios: list[str], expected: tuple[str, str]
) -> None:
    assert ratio_and_resolution(size, ratios, [FILMS]) == expected


@pytest.mark.parametrize("size", [None, "", "auto", "720p", "0x720", "1280x", "9" * 5000 + "x1", 1280, ["1280x720"]])
def test_what_is_no_size_of_a_film_is_refused(size: object) -> None:
    with pytest.raises(InvalidRequest, match="such as 1280x720") as caught:
        ratio_and_resolution(size, [], [])
    assert (caught.value.param, len(caught.value.message) < 100) == ("size", True)
