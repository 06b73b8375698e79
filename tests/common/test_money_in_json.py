"""Amounts of money are plain numbers in JSON; everything else is written as `json` writes it."""

import json
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from common import money

AMOUNTS = [
    (1, "0.000001"),
    (10, "0.00001"),
    (-99, "-0.000099"),
    (100, "0.0001"),
    (40_000, "0.04"),
    (0, "0"),
    (10**6, "1"),
]
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
)


def test_amounts_are_plain_numbers():
    for micros, written in AMOUNTS:
        assert money.dumps({"a": [money.usd(micros)]}, separators=(",", ":")) == f'{{"a":[{written}]}}'


@given(st.integers(-(10**15), 10**15) | st.integers(-1_000, 1_000))
def test_an_amount_is_read_as_the_float_that_it_is(micros: int):
    written = money.dumps(money.usd(micros))
    assert "e" not in written.lower()
    assert json.loads(written) == micros / 1_000_000
    assert len(written.partition(".")[2]) <= 6
    assert money.micros(json.loads(written)) == micros


@given(documents, st.booleans())
def test_everything_else_is_written_as_json_writes_it(document: object, ascii_only: bool):
    assert money.dumps(document, ensure_ascii=ascii_only) == json.dumps(document, ensure_ascii=ascii_only)


@given(texts)
def test_no_text_of_a_client_is_taken_for_an_amount(text: str):
    for given_text in (text, f'"\\u0000{text}', f'\\"\\u00001"{text}', r'"\u00001"', r"\u00001"):
        written = money.dumps([given_text, {given_text: Decimal("0.00001")}])
        assert json.loads(written) == [given_text, {given_text: 0.00001}]
