"""What a provider reports, beside what was billed: each difference in words, and none where there is none."""

import pytest

from adapters.base import Done, Output, Reported
from billing.pricing import Settlement
from tests.tasks import steps
from worker.deliver import agreement, copies
from worker.deliver.agreement import Agreed
from worker.deliver.copies import CallResult

FILM = Agreed(count=1, tier="720p", seconds=5)
TABLE = {"2K": {"1:1": "2048x2048"}, "4K": {"16:9": "3840x2160"}}


def result(made: int = 1, *, kind: str = "image", duration: float | None = None, **reported) -> CallResult:
    outputs = tuple(Output(index=index, kind=kind, url="https://cdn.example.com/x") for index in range(made))
    return CallResult(call_id=1, done=Done(outputs=outputs, duration=duration, reported=Reported(**reported)))


def stored(count: int = 1, **facts) -> tuple:
    return tuple(steps.asset(number, **facts) for number in range(count))


def of_film(billed: float = 5, *, probed: float | None = 5.0, agreed: Agreed = FILM, **reported) -> str:
    settlement = Settlement(actual_micros=500_000, seconds=billed)
    file = stored(kind="video", duration_seconds=probed)
    return agreement.differences(agreed, result(kind="video", **reported), file, settlement)


def of_pictures(made: int, kept: int, agreed: Agreed, facts: dict | None = None, **reported) -> str:
    settlement = Settlement(actual_micros=40_000, seconds=0)
    return agreement.differences(agreed, result(made, **reported), stored(kept, **facts or {}), settlement)


def test_a_film_as_it_was_billed_has_no_difference():
    told = {"duration": 5.04, "count": 1, "has_sound": False, "used_seconds": 5.5}
    for resolution in ("720p", "720P", None):
        assert of_film(probed=5.9, resolution=resolution, **told) == "", resolution


def test_a_film_runs_up_to_a_second_over_at_no_charge():
    for seconds, is_flagged in [(5.04, False), (5.99, False), (4.01, False), (6.0, True), (4.0, True)]:
        assert bool(of_film(duration=seconds)) is is_flagged, seconds
        assert bool(of_film(probed=seconds)) is is_flagged, seconds


@pytest.mark.parametrize(
    ("billed", "told", "words"),
    [
        (5, {"duration": 30.0}, "duration: asked 5 s, billed 5 s, reported 30 s"),
        (8, {"duration": 8.0, "probed": 8.0}, "duration: asked 5 s, billed 8 s, reported 8 s"),
        (5, {"probed": 8.0}, "duration: billed 5 s, the file has 8 s"),
        (5, {"used_seconds": 35.0}, "usage: billed 5 s, reported 35 s"),
        (5, {"count": 2}, "count: billed 1, reported 2"),
        (5, {"resolution": "1080p"}, "resolution: billed 720p, reported 1080p"),
        (5, {"size": "1920x1080"}, "size: billed 720p, reported 1920x1080"),
        (5, {"size": "854x480"}, "size: billed 720p, reported 854x480"),
        (5, {"has_sound": True}, "sound: billed without, reported with"),
    ],
)
def test_each_fact_of_a_film_is_compared(billed, told, words):
    assert of_film(billed, **told) == words


def test_sizes_of_the_same_resolution_are_no_difference():
    for size in ("1280x720", "720x1280", "960x960", "1584x672", "720x720", "1280x704"):
        assert of_film(size=size) == "", size
    assert of_film(size="1792x1024", agreed=Agreed(count=1, tier="1080p", seconds=5)) == ""
    assert of_film(resolution="2160p", agreed=Agreed(count=1, tier="4k", seconds=5)) == ""


def test_sound_that_was_asked_for_is_no_difference():
    assert of_film(has_sound=True, agreed=Agreed(count=1, tier="720p", seconds=5, has_sound=True)) == ""


def test_files_beside_what_was_billed_are_counted():
    one, four = Agreed(count=1, tier="1K"), Agreed(count=4, tier="1K")
    assert of_pictures(8, 8, one) == "count: billed 1, reported 8"
    assert of_pictures(1, 1, one, count=8) == "count: billed 1, reported 8"
    assert of_pictures(4, 3, four) == "count: billed 3, reported 4"  # one could not be copied
    assert of_pictures(3, 3, four) == of_pictures(4, 4, four) == ""


def test_of_calls_side_by_side_each_made_its_share():
    four = Agreed(count=4, tier="1K", calls=4)
    assert of_pictures(1, 1, four) == ""
    assert of_pictures(2, 2, four) == "count: billed 1, reported 2"


def test_without_a_known_count_or_tier_nothing_is_compared():
    assert of_pictures(8, 8, Agreed(count=None), size="4096x4096") == ""


def test_pixels_are_of_the_tier_that_the_table_says():
    for tier, size, is_flagged in [
        ("1K", "1024x1024", False),
        ("1K", "1552x656", False),
        ("1K", "2048x2048", True),
        ("1K", "4096x4096", True),
        ("2K", "1024x1024", True),
        ("2K", "2560x1440", False),
        ("4K", "3840x2160", False),
        ("HD", "9000x9000", False),
    ]:
        agreed = Agreed(count=1, tier=tier, sizes=TABLE)
        assert bool(of_pictures(1, 1, agreed, size=size)) is is_flagged, (tier, size)


def test_the_pixels_of_a_file_are_flagged_where_they_are_more_whatever_is_reported():
    large, small = {"width": 4096, "height": 4096}, {"width": 8, "height": 8}
    agreed = Agreed(count=1, tier="1K")
    assert of_pictures(1, 1, agreed, large) == "size: billed 1K, the file has 4096x4096"
    assert of_pictures(1, 1, agreed, large, size="1024x1024") == "size: billed 1K, the file has 4096x4096"
    assert of_pictures(1, 1, agreed, large, size="4096x4096") == "size: billed 1K, reported 4096x4096"
    assert of_pictures(1, 1, agreed, small) == ""


def test_a_provider_that_charges_more_than_is_billed_is_flagged():
    charged = [result(cost_micros=30_000), result(cost_micros=30_000)]
    for actual, words in [(40_000, "cost: billed $0.04, reported $0.06"), (60_000, ""), (0, "")]:
        assert agreement.cost_difference(charged, Settlement(actual_micros=actual, seconds=0)) == words, actual
    assert agreement.cost_difference([result()], Settlement(actual_micros=1, seconds=0)) == ""


def test_what_was_reported_is_kept_until_the_end():
    done = result(count=1, duration=5.0, size="1x1", cost_micros=3).done
    for row in (copies.of_urls(done), copies.of_files(done, stored())):
        assert copies.read(1, row).done.reported == done.reported
