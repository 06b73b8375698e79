"""Where a task goes after each refusal and fault: the bounds that keep it from being lost, bought twice or hot."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.base import ErrorKind
from tasks import failures
from tasks.failover import CALLS_A_WAIT, GONE, FailedCall, Next, Way, lead
from tasks.failures import OUTCOME_UNKNOWN, ROUTE_VANISHED, UNAVAILABLE

UNREACHABLE, BUSY, FULL, REFUSED = "transient", "rate_limited", "overloaded", "invalid_request"
UNOPENED, FORBIDDEN = "model_unavailable", "forbidden"
REJECTED, INPUT_UNREACHABLE = (failures.OF_KIND[kind] for kind in ("invalid_request", "asset_unreachable"))


def ways(*obstacles: str) -> list[Way]:
    """Open routes 1, 2, …: what holds each back."""
    return [Way(route_id=number, obstacle=obstacle) for number, obstacle in enumerate(obstacles, 1)]


def calls(*kinds: str, route: int = 1, **fields) -> list[FailedCall]:
    return [FailedCall(route_id=route, kind=kind, **{"credential_id": route, **fields}) for kind in kinds]


def after(*failed: FailedCall, left: tuple[str, ...] = ("cooling down",), **options) -> Next:
    return lead(ways(*left), failed, **options)


def told(step: Next) -> tuple[int, ...] | float | failures.Failure:
    """The failure, or for how long the task waits, or the open routes of which it takes one at once."""
    return step.failure or step.wait_seconds or step.routes


# What the channel's health makes of the refused route; the end or wait without another route; and beside a free one.
FIRST_REFUSALS = {
    "invalid_request": ("", REJECTED, REJECTED),
    "model_unavailable": ("", REJECTED, (2,)),
    "forbidden": ("", REJECTED, (2,)),
    "content_policy": ("", failures.OF_KIND["content_policy"], failures.OF_KIND["content_policy"]),
    "asset_unreachable": ("", 1.0, 1.0),
    "auth": ("disabled", UNAVAILABLE, (2,)),
    "quota_exhausted": ("", 1.0, (2,)),
    "rate_limited": ("cooling down", 1.0, (1, 2)),
    "overloaded": ("cooling down", 1.0, (1, 2)),
    "transient": ("cooling down", 1.0, (1, 2)),
    "ambiguous": ("", OUTCOME_UNKNOWN, OUTCOME_UNKNOWN),
    "empty_result": ("", failures.NO_USABLE_RESULT, failures.NO_USABLE_RESULT),
    "provider_failed": ("", failures.OF_KIND["provider_failed"], failures.OF_KIND["provider_failed"]),
    "broken": ("", OUTCOME_UNKNOWN, OUTCOME_UNKNOWN),
    "unpaid": ("", 1.0, 1.0),
    "unstored": ("", failures.STORAGE_UNAVAILABLE, failures.STORAGE_UNAVAILABLE),
}


def test_the_first_refusal_of_each_kind():
    assert FIRST_REFUSALS.keys() > set(ErrorKind)
    for kind, (obstacle, alone, beside) in FIRST_REFUSALS.items():
        assert told(after(*calls(kind), left=(obstacle,))) == alone, kind
        assert told(after(*calls(kind), left=(obstacle, ""))) == beside, kind


def test_only_what_never_passes_takes_a_route_from_a_task():
    for call in (
        *calls(UNOPENED),
        *calls(GONE, "auth", "quota_exhausted", credential_id=None),
    ):
        assert told(after(call, left=("", ""))) == (2,), call
    assert told(after(*calls(UNOPENED))) == REJECTED
    assert told(after(*calls(UNOPENED), left=("", "disabled"))) == REJECTED
    assert told(after(*calls(GONE), left=("", "gone"))) == ROUTE_VANISHED
    assert told(after(*calls("auth", credential_id=None))) == UNAVAILABLE


def test_what_leads_nowhere_ends_the_task_whether_it_was_tried_or_not():
    for left, end in (
        ((), ROUTE_VANISHED),
        (("gone", "gone"), ROUTE_VANISHED),
        (("gone", "disabled"), UNAVAILABLE),
        (("disabled", "disabled"), UNAVAILABLE),
        (("disabled", "cooling down"), (1, 2)),
        (("gone", "busy"), (1, 2)),
    ):
        assert told(lead(ways(*left))) == end, left
        assert (after(*calls(BUSY), left=left).failure or (1, 2)) == end, left


def test_the_opt_in_to_buy_again_changes_nothing_but_ambiguous_answers():
    for kind, (obstacle, *_) in FIRST_REFUSALS.items():
        first, second = (after(*calls(kind), left=(obstacle, ""), may_buy_again=opted) for opted in (True, False))
        assert (first == second) == (kind != "ambiguous"), kind


def test_an_ambiguous_answer_is_bought_again_twice_where_the_operator_opted_in():
    steps = [after(*calls(*["ambiguous"] * times), left=("", ""), may_buy_again=True) for times in range(1, 5)]
    assert [told(step) for step in steps] == [1, 2, OUTCOME_UNKNOWN, OUTCOME_UNKNOWN]


def test_an_unreachable_input_is_tried_once_more_whatever_else_went_wrong():
    assert told(after(*calls(BUSY, BUSY, "asset_unreachable"), waits=2)) == 1
    assert told(after(*calls(BUSY, "asset_unreachable", "asset_unreachable"))) == INPUT_UNREACHABLE


def test_a_busy_route_is_waited_for_ever_longer_and_however_often_it_was_busy():
    waits = [after(*calls(*[BUSY] * (times + 1)), waits=times).wait_seconds for times in (*range(8), 500)]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_provider_that_cannot_be_reached_is_given_up_at_the_fifth_try():
    ends = [told(after(*calls(*[UNREACHABLE] * tries), waits=tries - 1)) for tries in range(1, 6)]
    assert ends == [1, 2, 4, 8, UNAVAILABLE]


def test_two_providers_that_cannot_be_reached_are_given_up_at_the_ninth_try():
    tries = calls(UNREACHABLE) + calls(UNREACHABLE, route=2)
    both = ("cooling down", "cooling down")
    assert told(after(*tries * 4, left=both, waits=3)) == 8
    assert told(after(*tries * 4, *tries[:1], left=both)) == UNAVAILABLE
    assert told(after(*tries * 4, *tries[:1], left=("cooling down", ""))) == UNAVAILABLE


def test_earlier_waits_for_a_busy_route_do_not_count_as_unreachable():
    assert told(after(*calls(*[BUSY] * 9, UNREACHABLE), waits=9)) == 60


def test_one_route_that_answers_or_was_never_asked_keeps_the_others_in_play():
    unreachable = calls(*[UNREACHABLE] * 9, route=2)
    for other in ("cooling down", "busy"):
        assert after(*calls(BUSY), *unreachable, left=(other, "cooling down"), waits=5).routes == (1, 2)
        assert told(after(*unreachable, left=(other, "cooling down"), waits=5)) == (1, 2)
    assert told(after(*unreachable, left=("", "cooling down"), waits=5)) == (1, 2)
    assert told(after(*unreachable, left=("disabled", "cooling down"))) == UNAVAILABLE


def test_every_route_is_asked_once_before_the_task_waits():
    first, second = calls(BUSY), calls(FULL, route=2)
    both, one_free = ("cooling down", "cooling down"), ("cooling down", "")
    assert told(after(*first, left=one_free)) == (1, 2)
    assert told(after(*first, *second, left=both)) == 1
    assert told(after(*first, *second, left=("", "cooling down"))) == 1
    assert told(after(*first, *second, *first, left=one_free, waits=1)) == (1, 2)
    assert told(after(*first * 5, left=one_free, waits=4)) == (1, 2)


def test_a_task_does_not_wait_by_itself_while_a_route_that_has_not_refused_it_is_full_or_rests():
    steps = {"busy": (1, 2), "paused": (1, 2), "cooling down": (1, 2), "disabled": 2, "gone": 2}
    for obstacle, step in steps.items():
        assert told(after(*calls(BUSY), left=("cooling down", obstacle), waits=1)) == step, obstacle


def test_a_route_that_refuses_again_and_again_is_waited_for_though_another_is_only_full():
    waits = 0
    for tries in range(1, 21):
        waits += bool(after(*calls(BUSY) * tries, left=("cooling down", "busy"), waits=waits).wait_seconds)
    assert waits == 10


def test_a_route_that_rests_and_did_not_refuse_is_waited_for_without_a_wait_of_the_task():
    assert told(after(*calls(UNOPENED), left=("", "cooling down"))) == (2,)
    assert told(after(*calls("auth"), left=("disabled", "busy"))) == (2,)


def test_a_channel_that_forbids_without_a_reason_is_tried_with_each_of_its_credentials():
    two = [Way(route_id=1, obstacle="", credentials=2)]
    first, second = calls(FORBIDDEN, credential_id=1), calls(FORBIDDEN, credential_id=2)
    assert told(lead(two, first)) == (1,)
    assert told(lead([Way(route_id=1, obstacle="", credentials=3)], [*first, *second])) == (1,)
    assert told(lead(two, [*first, *second])) == REJECTED
    assert told(lead([*two, Way(route_id=2, obstacle="busy")], [*first, *second])) == (2,)


@pytest.mark.parametrize("kind", [BUSY, "auth", "quota_exhausted"])
@pytest.mark.parametrize("seat", ["", "busy"])
def test_another_credential_of_the_channel_is_taken_at_once(kind, seat):
    """`busy` may only be the task's own seat, which it gives back."""
    first, second, three = calls(kind, credential_id=1), calls(kind, credential_id=2), calls(kind, credential_id=3)
    way = [Way(route_id=1, obstacle=seat, credentials=3)]
    assert told(lead(way, first)) == (1,)
    assert told(lead(way, [*first, *second])) == (1,)
    assert told(lead(way, [*first, *second, *three])) == 1  # each of them has refused
    assert told(lead(way, [*first, *first], waits=1)) == 2  # there was no other that opens
    assert told(after(*first, left=(seat,))) == 1
    assert told(after(*calls(FULL), left=(seat,))) == told(after(*calls(UNREACHABLE), left=(seat,))) == 1


KINDS = st.sampled_from(["auth", BUSY, FULL, UNREACHABLE, "unpaid"])
OBSTACLES = st.sampled_from(["", "", "", "busy", "paused", "cooling down", "disabled"])
MOMENTS = st.tuples(st.integers(1, 3), KINDS, st.integers(1, 9), st.tuples(OBSTACLES, OBSTACLES, OBSTACLES))


@given(st.lists(MOMENTS, min_size=1, max_size=200))
def test_whatever_channels_do_the_calls_of_a_task_are_bounded_by_its_growing_waits(moments):
    failed, waits = [], 0
    for route, kind, credential, left in moments:
        failed += calls(kind, route=route, credential_id=credential)
        step = after(*failed, left=left, waits=waits)
        waits += bool(step.wait_seconds)
        assert step.failure or step.wait_seconds in (0, min(2.0 ** (waits - 1), 60))
        tried = {(call.route_id, call.credential_id) for call in failed}
        assert step.failure or len(failed) <= CALLS_A_WAIT * len(tried) * (waits + 1)


EVERY_FAILURE = [found for found in vars(failures).values() if isinstance(found, failures.Failure)]


def test_failures_are_of_the_documented_types_and_say_nothing_of_the_provider():
    known = [*failures.OF_KIND.values(), *EVERY_FAILURE]
    assert {failure.type for failure in known} == {
        "TASK_CONTENT_REJECTED",
        "TASK_UPSTREAM_REJECTED",
        "TASK_INPUT_UNREACHABLE",
        "TASK_UPSTREAM_ERROR",
        "TASK_OUTCOME_UNKNOWN",
        "TASK_STORAGE_UNAVAILABLE",
        "TASK_NO_CAPABLE_ROUTE",
        "TASK_TIMEOUT",
        "TASK_INTERNAL_ERROR",
    }
    assert not [failure for failure in known if "http" in failure.message]
