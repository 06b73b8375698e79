"""What a task will cost and what its result does cost."""

import json
import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from billing.pricing import Price, settle


def price(mode: str = "image_matrix", *, unit: int = 40_000, quantity: int = 1) -> Price:
    return Price(mode=mode, tier="1K", unit_micros=unit, quantity=quantity)


def video(reported: float | None, *, unit: int = 100_000, asked: int = 5):
    terms = price("video_duration", unit=unit, quantity=asked)
    return settle(terms, delivered=1, asked_seconds=asked, reported_seconds=reported)


def images(delivered: int, *, asked: int) -> int:
    return settle(price(quantity=asked), delivered=delivered, asked_seconds=None, reported_seconds=None).actual_micros


def test_an_estimate_is_the_unit_price_times_the_quantity():
    for mode in ("image_matrix", "video_duration", "per_request"):
        assert price(mode, unit=40_001, quantity=3).estimate_micros == 120_003, mode


def test_a_price_survives_its_snapshot_as_json():
    frozen = replace(price("video_duration", quantity=7), results=2)
    assert Price.frozen(json.loads(json.dumps(frozen.snapshot()))) == frozen


def test_all_images_delivered_cost_the_estimate():
    assert images(3, asked=3) == 120_000


def test_partial_images_cost_what_was_delivered():
    assert images(1, asked=3) == 40_000


def test_more_images_than_asked_cost_what_was_asked():
    assert images(5, asked=3) == 120_000


def test_no_images_cost_nothing():
    assert images(0, asked=3) == 0


def test_images_have_no_billed_seconds():
    assert settle(price(), delivered=1, asked_seconds=None, reported_seconds=9.0).seconds == 0


def test_a_price_per_request_is_one_price_whatever_was_delivered():
    terms = price("per_request", unit=250_000, quantity=1)
    for delivered in (0, 1, 4):
        settled = settle(terms, delivered=delivered, asked_seconds=8, reported_seconds=16.0)
        assert settled.actual_micros == 250_000, delivered


PLAUSIBLE = [
    (5.0, 5, 500_000),
    (4.2, 4.2, 420_000),
    (0.001, 0.001, 100),
    (10.0, 10, 1_000_000),
    (None, 5, 500_000),
]


def test_a_plausible_length_is_billed_as_reported():
    for reported, seconds, cost in PLAUSIBLE:
        settled = video(reported)
        assert (settled.seconds, settled.actual_micros) == (seconds, cost), reported


def test_an_implausible_length_is_billed_as_asked():
    for reported in (10.001, 0.0, -0.0, -3.0, 86_400.0, math.nan, math.inf, -math.inf):
        settled = video(reported)
        assert (settled.seconds, settled.actual_micros) == (5, 500_000), reported


def test_whole_seconds_are_shown_as_an_integer():
    assert isinstance(video(4.0).seconds, int)


def test_the_charge_is_rounded_half_up_once():
    for unit, reported, cost in ((1, 2.5, 3), (1, 2.4999, 2), (3, 0.5, 2), (7, 0.1, 1)):
        assert video(reported, unit=unit).actual_micros == cost, (unit, reported)


def test_binary_fractions_do_not_leak_into_the_charge():
    assert video(1.1, unit=1_000_000).actual_micros == 1_100_000


@given(st.floats(), st.integers(1, 86_400), st.integers(0, 10**9))
def test_any_report_is_settled_within_twice_the_estimate(reported, asked, unit):
    settled = video(reported, unit=unit, asked=asked)
    assert 0 <= settled.actual_micros <= 2 * unit * asked
    assert 0 < settled.seconds <= 2 * asked


@given(st.integers(0, 20), st.integers(1, 10), st.integers(0, 10**9))
def test_images_never_cost_more_than_their_estimate(delivered, asked, unit):
    terms = price(unit=unit, quantity=asked)
    settled = settle(terms, delivered=delivered, asked_seconds=None, reported_seconds=None)
    assert settled.actual_micros == unit * min(delivered, asked)
    assert settled.actual_micros <= terms.estimate_micros
