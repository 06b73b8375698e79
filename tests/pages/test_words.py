"""What pages say: money, spans, moments and states."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from hypothesis import given
from hypothesis import strategies as st

from common import money
from pages import charts, words
from pages.templatetags.pages import DRAWN

NOW = datetime(2026, 11, 23, 8, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (0, "$0.00"),
        (40_000, "$0.04"),
        (12_500_000, "$12.50"),
        (1_234, "$0.001234"),
        (-1_234_567_890_000, "-$1,234,567.89"),
    ],
)
def test_money_has_two_decimals_and_as_many_as_it_has(micros, shown):
    assert words.usd(micros) == shown


@pytest.mark.parametrize(
    ("micros", "shown"),
    [
        (212_345_600, "$212.35"),
        (-212_345_600, "-$212.35"),
        (10_915_000, "$10.92"),
        (49_085_000, "$49.08"),
        (1_234, "$0.001234"),
        (10_000, "$0.01"),
    ],
)
def test_amounts_are_shown_to_the_cent_and_smaller_ones_as_they_are(micros, shown):
    assert words.cents(micros) == shown


def test_a_rounded_amount_is_exact_on_hover_and_a_price_is_never_rounded():
    shown = Template("{% load pages %}{{ a|usd }} {{ b|usd }} {{ none|usd }} {{ a|price }}").render(
        Context({"a": 37_500, "b": 40_000, "none": None})
    )
    assert shown == '<data value="0.0375" title="$0.0375">$0.04</data> $0.04 – $0.0375'


@given(st.integers(-money.LARGEST, money.LARGEST))
def test_no_money_is_lost_in_showing_it(micros):
    assert money.micros(words.usd(micros).replace("$", "").replace(",", "")) == micros


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0.42, "0.4 s"),
        (3, "3 s"),
        (12.4, "12 s"),
        (185, "3 min 5 s"),
        (7_200, "2 h"),
        (7_205, "2 h"),
        (-90, "-1 min 30 s"),
    ],
)
def test_a_span_has_its_two_largest_units(seconds, shown):
    assert words.span(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(1, "now"), (61, "1 min ago"), (-7_300, "in 2 h"), (200_000, "2 d ago"), (-9, "in 9 s")]
)
def test_a_moment_is_said_as_people_say_it(seconds, shown):
    assert words.ago(NOW - timedelta(seconds=seconds), NOW) == shown


def test_a_state_shows_by_shape_and_word_and_escapes_what_it_does_not_know():
    page = Template('{% load pages %}{% state "running" 40 %}{% state word %}').render(Context({"word": "<b>"}))
    assert "</svg> running 40 %" in page
    assert "state-busy" in page
    assert "&lt;b&gt;" in page


@given(st.lists(st.dictionaries(st.sampled_from(["succeeded", "failed", "timeout"]), st.integers(0, 500)), max_size=30))
def test_bars_stay_in_their_chart_and_stand_on_each_other(parts):
    columns = [charts.ChartColumn(label=str(place), parts=part) for place, part in enumerate(parts)]
    chart = charts.stacked("c", columns, title="t", description="d", height=60)
    for place, column in enumerate(columns):
        bars = [bar for bar in chart.bars if bar.x == place * 12]
        assert [bar.tone for bar in bars] == [tone for tone, amount in column.parts.items() if amount]
        assert all(bar.y >= -0.01 and bar.y + bar.height <= 60.02 for bar in bars)
        for lower, upper in itertools.pairwise(bars):
            assert upper.y + upper.height == pytest.approx(lower.y, abs=0.03)


def test_a_line_is_interrupted_where_nothing_is_known():
    columns = [charts.ChartColumn(label=str(place), parts={}) for place in range(5)]
    chart = charts.stacked("c", columns, title="t", description="d", lines={"p50": [1, 2, None, 4, 2]})
    assert [line.points for line in chart.lines] == ["6,45.0 18,30.0", "42,0.0 54,30.0"]


def test_lines_share_a_scale_and_bars_of_a_tone_are_one_path():
    columns = [charts.ChartColumn(label=str(place), parts={"succeeded": 1, "failed": place}) for place in range(2)]
    chart = charts.stacked("c", columns, title="t", description="d", lines={"p50": [1, 1], "p95": [2, 4]})
    assert [line.points for line in chart.lines] == ["6,45.0 18,45.0", "6,30.0 18,0.0"]
    assert [(shape.tone, shape.path.count("M")) for shape in chart.shapes] == [("succeeded", 2), ("failed", 1)]


def test_every_shape_is_drawn():
    assert {style.shape for style in (*words.STYLES.values(), words.UNKNOWN)} <= DRAWN.keys()


@pytest.mark.parametrize("micros", [0, 1, 40_000, 12_500_000, 999_999_999, 1_234_500_000, 10**15])
def test_money_is_read_as_it_is_shown(micros):
    assert words.micros(words.usd(micros)) == words.micros(words.usd(micros).removeprefix("$")) == micros


@pytest.mark.parametrize("text", ["12,50", "0,5", "1,23,456", "1.234,50", ",500", ""])
def test_a_comma_parts_thousands_and_nothing_else(text):
    with pytest.raises(ValueError, match="is not an amount of money"):
        words.micros(text)
