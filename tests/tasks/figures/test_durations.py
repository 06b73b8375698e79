"""How long tasks took, read from counts in buckets."""

from tasks.figures.durations import NONE, added, quantile
from tasks.figures.sums import BOUNDS


def counts(**of):
    """Counts by the upper end of their bucket; `over` is of the last one."""
    places = {f"s{bound}": number for number, bound in enumerate(BOUNDS)} | {"over": len(BOUNDS)}
    found = list(NONE)
    for name, count in of.items():
        found[places[name]] = count
    return tuple(found)


def test_a_quantile_lies_within_its_bucket_as_if_that_were_even():
    assert quantile(counts(s1=4), 0.5) == 0.5
    assert quantile(counts(s1=1, s8=2, s20=1), 0.5) == 6.5
    assert quantile(counts(s1=1, s8=2, s20=1), 0.95) == 18.4


def test_nothing_has_no_quantile_and_the_last_bucket_only_its_beginning():
    assert quantile(NONE, 0.5) is None
    assert quantile(counts(over=3), 0.5) == BOUNDS[-1]


def test_counts_are_added_bucket_by_bucket():
    assert added([counts(s1=1, over=2), counts(s1=3)]) == counts(s1=4, over=2)
    assert added([]) == NONE
