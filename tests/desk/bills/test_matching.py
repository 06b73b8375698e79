"""Lines of a bill and calls of ours: each is matched, different, the provider's only, or ours only."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desk.bills import matching
from desk.bills.columns import ProviderLine
from desk.bills.matching import Comparison, OurCall

SINCE = datetime(2026, 11, 1, tzinfo=UTC)
UNTIL = datetime(2026, 12, 1, tzinfo=UTC)
MIDDLE = datetime(2026, 11, 15, tzinfo=UTC)


def line(upstream_id="job-1", micros=40_000, number=2):
    return ProviderLine(line=number, upstream_id=upstream_id, amount_micros=micros, at=None, model="")


def call(upstream_id="job-1", micros=40_000, **fields):
    given = {"id": 1, "is_bought": True, "is_unknown": False, "created_at": MIDDLE}
    return OurCall(upstream_id=upstream_id, cost_micros=micros, **(given | fields))


def compared(lines, calls, **fields):
    comparison = Comparison(lines=lines, since=SINCE, until=UNTIL, **fields)
    comparison.add_calls(calls)
    return comparison


def told(lines, calls):
    return [each.verdict for each in compared(lines, calls).verdicts()]


def test_the_same_amount_for_the_same_job_is_matched():
    assert told([line()], [call()]) == ["matched"]


def test_several_lines_of_one_job_are_compared_together():
    assert told([line(micros=30_000), line(micros=10_000)], [call()]) == ["matched"] * 2
    assert told([line(), line()], [call()]) == ["different"] * 2


def test_another_amount_or_an_unknown_cost_of_ours_is_different():
    assert told([line(micros=50_000)], [call()]) == ["different"]
    assert told([line()], [call(micros=None)]) == ["different"]


def test_a_call_that_made_nothing_is_expected_to_be_free():
    failed = call(micros=None, is_bought=False)
    assert told([line(micros=0)], [failed]) == ["matched"]
    assert told([line(micros=1)], [failed]) == ["different"]
    assert told([line("other")], [failed]) == ["provider_only"]


def test_what_we_never_bought_is_the_providers_only():
    assert told([line("job-2")], []) == ["provider_only"]


@pytest.mark.parametrize(
    ("missed", "verdicts"),
    [
        (call(), ["ours_only"]),
        (call(micros=None), ["ours_only"]),
        (call("", None, is_bought=False, is_unknown=True), ["ours_only"]),
        (call(micros=0), []),
        (call(created_at=SINCE - timedelta(seconds=1)), []),
        (call(created_at=UNTIL), []),
        (call(""), []),
    ],
)
def test_what_is_missed_on_the_bill_is_what_was_bought_or_may_have_been_in_its_period(missed, verdicts):
    assert told([], [missed]) == verdicts


def test_a_job_of_the_evening_before_is_matched_all_the_same():
    assert told([line()], [call(created_at=SINCE - timedelta(hours=5))]) == ["matched"]


def test_calls_that_were_answered_at_once_are_counted_apart():
    nameless = compared([], [call("", 40_000), call("", None)]).nameless
    assert (nameless.count, nameless.own_micros, nameless.unknown) == (2, 40_000, 1)


def test_what_is_missed_beyond_a_bound_is_summed_up():
    comparison = compared([], [call(f"job-{n}", n, id=n) for n in range(1, 6)], most_ours=2)
    verdicts = comparison.verdicts()
    ours = matching.sums(verdicts, comparison.ours_unlisted)["ours_only"]
    assert (len(verdicts), ours.count, ours.own_micros) == (2, 5, 15)


IDS = st.sampled_from([f"job-{n}" for n in range(6)])
LINES = st.lists(st.builds(line, IDS, st.integers(-5, 100)), max_size=20)
CALLS = st.lists(
    st.builds(call, IDS | st.just(""), st.none() | st.integers(0, 100), is_bought=st.booleans()), max_size=20
)


@given(LINES, CALLS, st.integers(0, 20))
def test_every_line_has_one_verdict_and_the_sums_are_those_of_the_bill(lines, calls, cut):
    numbered = [OurCall(**{name: getattr(c, name) for name in c.__slots__} | {"id": n}) for n, c in enumerate(calls, 1)]
    comparison = Comparison(lines=lines, since=SINCE, until=UNTIL)
    comparison.add_calls(numbered[:cut])
    comparison.add_calls(numbered[cut:])
    verdicts = comparison.verdicts()
    assert [each.line for each in verdicts if each.line] == lines
    sums = matching.sums(verdicts, comparison.ours_unlisted)
    assert sum(each.provider_micros for each in sums.values()) == sum(each.amount_micros for each in lines)
    assert sum(each.count for each in sums.values()) == len(verdicts)
    named = {each.call.id for each in verdicts if each.call}
    own = sum(c.own_micros or 0 for c in numbered if c.id in named)
    assert sum(each.own_micros for each in sums.values()) == own
    ids = {each.upstream_id for each in lines}
    assert all(each.call is None or each.call.upstream_id in ids for each in verdicts if each.line)


def test_nobody_knows_what_a_call_of_unknown_outcome_costs():
    assert call("", None, is_bought=False, is_unknown=True).own_micros is None
    assert call("", None, is_bought=False).own_micros == 0
