"""What a picture costs by its size and quality: held as it is asked for, charged as its answer tells."""

from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog import dearer_prices, picture_prices
from common.errors import InvalidRequest

FLAT = picture_prices.of_row("0.04")
TIERS = picture_prices.of_row(
    {
        "1024x1024": {"low": "0.01", "medium": "0.05", "high": "0.17"},
        "1536x1024": "0.06",
        "1024x1536": "0.07",
        "2048x2048": {"high": "0.3"},
    }
)
OPEN = picture_prices.of_row({"1024x1024": {"low": "0.01", "high": "0.17"}, "*": "0.04"})
BY_QUALITY = picture_prices.of_row({"*": {"standard": "0.04", "hd": "0.08"}})


@pytest.mark.parametrize(
    ("price", "size", "quality", "usd"),
    [
        (FLAT, "", "", "0.04"),
        (FLAT, "auto", "auto", "0.04"),
        (FLAT, "1536x1536", "", "0.04"),
        (TIERS, "1024x1024", "low", "0.01"),
        (TIERS, "1024x1024", "", "0.17"),
        (TIERS, "1024x1024", "auto", "0.17"),
        (TIERS, "512x512", "low", "0.01"),  # covered by 1024x1024
        (TIERS, "1536x1024", "", "0.06"),
        (TIERS, "1024x1536", "", "0.07"),
        (TIERS, "1100x1000", "", "0.07"),  # two tiers of as many pixels cover it
        (TIERS, "2048x1024", "high", "0.3"),  # 2 megapixels, as the fewest that cover it are 4
        (TIERS, "2048x2048", "", "0.3"),
        (TIERS, "4096x512", "high", "0.3"),
        (TIERS, "", "", "0.3"),
        (TIERS, "", "low", "0.07"),
        (TIERS, "auto", "high", "0.3"),
        (OPEN, "1024x1024", "low", "0.01"),
        (OPEN, "1536x1024", "", "0.04"),
        (OPEN, "", "", "0.17"),
        (BY_QUALITY, "1024x1024", "hd", "0.08"),
        (BY_QUALITY, "1024x1024", "", "0.08"),
        (BY_QUALITY, "", "standard", "0.04"),
    ],
)
def test_what_is_held_for_a_picture(price: Any, size: str, quality: str, usd: str) -> None:
    assert price.held(size, quality) == Decimal(usd)


@pytest.mark.parametrize(
    ("price", "size", "quality", "field"),
    [
        (FLAT, "", "high", "quality"),
        (FLAT, "", "*", "quality"),
        (FLAT, "", "AUTO", "quality"),
        (FLAT, "1537x1024", "", "size"),
        (FLAT, "1024x3840", "", "size"),
        (FLAT, "4K", "", "size"),
        (FLAT, "*", "", "size"),
        (FLAT, "01024x1024", "", "size"),
        (FLAT, "1024X1024", "", "size"),
        (FLAT, "१०२४x1024", "", "size"),
        (FLAT, "1024x1024\n", "", "size"),
        (FLAT, "0x0", "", "size"),
        (TIERS, "1024x1024", "ultra", "quality"),
        (TIERS, "1536x1024", "high", "quality"),
        (TIERS, "2048x2048", "low", "quality"),
        (TIERS, "", "ultra", "quality"),
        (TIERS, "2049x2048", "", "size"),
        (TIERS, "junk", "ultra", "size"),
        (OPEN, "1600x1024", "", "size"),
        (OPEN, "1536x1024", "high", "quality"),
        (BY_QUALITY, "2048x2048", "hd", "size"),
        (BY_QUALITY, "", "high", "quality"),
    ],
)
def test_a_size_or_quality_without_a_price_is_refused_by_name(price: Any, size: str, quality: str, field: str) -> None:
    with pytest.raises(InvalidRequest) as refusal:
        price.held(size, quality)
    assert refusal.value.param == field
    assert refusal.value.message.startswith(f"{field}: must be ")


def test_a_refusal_says_what_has_a_price() -> None:
    def words(*asked: str) -> str:
        with pytest.raises(InvalidRequest) as refusal:
            OPEN.held(*asked)
        return refusal.value.message

    assert words("2048x2048", "") == (
        "size: must be auto, or as WIDTHxHEIGHT covered by 1024x1024 or of at most 1536 pixels a side: "
        "others have no price."
    )
    assert words("1024x1024", "ultra") == "quality: must be low, high, auto: others have no price."


@pytest.mark.parametrize(
    ("price", "size", "quality", "opened", "usd"),
    [
        (FLAT, "3840x2160", "", "size", "0.04"),
        (FLAT, "", "high", "quality", "0.04"),
        (OPEN, "3840x2160", "", "size", "0.04"),
        (TIERS, "3840x2160", "", "size", "0.3"),
        (TIERS, "1024x1024", "ultra", "quality", "0.17"),
    ],
)
def test_an_operator_opens_what_has_no_price(price: Any, size: str, quality: str, opened: str, usd: str) -> None:
    assert price.held(size, quality, opened={opened}) == Decimal(usd)
    with pytest.raises(InvalidRequest):
        price.held(size, quality, opened={"moderation"})


@pytest.mark.parametrize(
    ("price", "told", "asked", "usd"),
    [
        (FLAT, ("3840x2160", "high"), ("", ""), "0.04"),
        (TIERS, ("1024x1024", "low"), ("", ""), "0.01"),
        (TIERS, ("1024x1024", "low"), ("1024x1024", "high"), "0.01"),
        (TIERS, ("", ""), ("1024x1024", "high"), "0.17"),
        (TIERS, ("", ""), ("1024x1024", ""), "0.17"),
        (TIERS, ("1024x1024", ""), ("", "medium"), "0.05"),
        (TIERS, ("1536x1024", "medium"), ("", ""), "0.06"),
        (TIERS, ("800x800", "low"), ("", ""), "0.01"),
        (TIERS, ("junk", "ultra"), ("1024x1024", "medium"), "0.05"),
        (TIERS, ("8000x8000", "low"), ("", ""), "0.07"),
        (TIERS, ("auto", "auto"), ("auto", "auto"), "0.3"),
        (OPEN, ("1536x1024", "high"), ("", ""), "0.04"),
        (BY_QUALITY, ("", "standard"), ("", ""), "0.04"),
    ],
)
def test_a_picture_is_charged_as_its_answer_tells_else_as_it_was_asked_for(
    price: Any, told: tuple[str, str], asked: tuple[str, str], usd: str
) -> None:
    assert price.charged(told, asked) == Decimal(usd)


words = st.text(max_size=12) | st.sampled_from(["", "auto", "*", "low", "high", "1024x1024", "9x9", "4096x4096"])


@given(st.sampled_from([FLAT, TIERS, OPEN, BY_QUALITY]), st.tuples(words, words), st.tuples(words, words))
def test_whatever_is_asked_and_told_has_a_price_or_is_refused(
    price: Any, asked: tuple[str, str], told: tuple[str, str]
) -> None:
    with suppress(InvalidRequest):
        assert price.held(*asked) <= Decimal("0.3")
    assert Decimal(0) < price.charged(told, asked) <= Decimal("0.3")


@pytest.mark.parametrize("stored", ["0.04", {"1024x1024": {"low": "0.01"}, "*": "0.04"}, {"*": {"hd": "0.08"}}])
def test_a_price_tells_what_is_stored(stored: Any) -> None:
    assert picture_prices.of_row(stored).document() == stored


def test_of_two_prices_the_dearer_holds_for_each_picture_and_what_one_refuses_is_refused() -> None:
    both = dearer_prices.of_pictures([OPEN, BY_QUALITY])
    assert both is not None
    assert [both.held("1024x1024", quality) for quality in ("", "auto")] == [Decimal("0.17"), Decimal("0.17")]
    assert both.held("1536x1024", "") == Decimal("0.08")
    assert both.charged(("1024x1024", "low"), ("", "hd")) == Decimal("0.08")
    assert both.charged(("1536x1024", "standard"), ("", "")) == Decimal("0.04")
    with pytest.raises(InvalidRequest, match=r"^quality: "):
        both.held("1024x1024", "low")
    assert both.document() == [OPEN.document(), BY_QUALITY.document()]
    assert dearer_prices.of_pictures([FLAT]) == FLAT
    assert dearer_prices.of_pictures([]) is None
