"""A bound is never below what a body can cost, and an estimate is about what it does."""

from relay.families import bounds


def test_each_byte_may_be_a_token_and_tools_count_beside_them():
    assert bounds.text_tokens(100, has_tools=False) == 100
    assert bounds.text_tokens(100, has_tools=True) == 2_148


def test_an_estimate_is_a_quarter_rounded_up_and_a_thousand_for_each_picture_and_file():
    assert [bounds.likely(most) for most in (0, 1, 4, 5)] == [0, 1, 1, 2]
    assert bounds.likely(8, 3) == 3_002
