"""What each refusal and fault means: the whole table."""

from adapters.base import ErrorKind, UpstreamError
from tasks import failures
from tests.worker.driving import error
from worker import retry_policy
from worker.buy.failed_calls import described
from worker.retry_policy import Spoiled, of_last_route, of_submit

UNREACHABLE, BUSY, FULL = ErrorKind.TRANSIENT, ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED
EVERY_FAILURE = [
    *failures.OF_KIND.values(),
    failures.OUTCOME_UNKNOWN,
    failures.STORAGE_UNAVAILABLE,
    failures.ROUTE_VANISHED,
    failures.TIMED_OUT,
    failures.INTERNAL,
    failures.UNAVAILABLE,
    failures.NO_USABLE_RESULT,
]


def spoiled(*kinds, route=1):
    return [Spoiled(route_id=route, kind=kind) for kind in kinds]


def test_the_first_refusal_of_each_kind():
    assert {kind: told(of_submit(error(kind), earlier=[], may_buy_again=False)) for kind in ErrorKind} == {
        ErrorKind.INVALID_REQUEST: ("fail", "refused", "TASK_UPSTREAM_REJECTED"),
        ErrorKind.CONTENT_POLICY: ("fail", "refused", "TASK_CONTENT_REJECTED"),
        ErrorKind.ASSET_UNREACHABLE: ("again", "refused", None),
        ErrorKind.AUTH: ("next", "refused", "TASK_UPSTREAM_ERROR"),
        ErrorKind.QUOTA_EXHAUSTED: ("next", "refused", "TASK_UPSTREAM_ERROR"),
        ErrorKind.RATE_LIMITED: ("next", "refused", "TASK_UPSTREAM_ERROR"),
        ErrorKind.OVERLOADED: ("next", "refused", "TASK_UPSTREAM_ERROR"),
        ErrorKind.TRANSIENT: ("next", "refused", "TASK_UPSTREAM_ERROR"),
        ErrorKind.AMBIGUOUS: ("fail", "unknown", "TASK_OUTCOME_UNKNOWN"),
        ErrorKind.EMPTY_RESULT: ("fail", "done", "TASK_UPSTREAM_ERROR"),
        ErrorKind.PROVIDER_FAILED: ("fail", "refused", "TASK_UPSTREAM_ERROR"),
    }


def told(verdict):
    return verdict.step, verdict.call_state, None if verdict.step == "again" else verdict.failure.type


def test_the_opt_in_to_buy_again_changes_nothing_but_ambiguous_answers():
    for kind in set(ErrorKind) - {ErrorKind.AMBIGUOUS}:
        first, second = (of_submit(error(kind), earlier=[], may_buy_again=opted_in) for opted_in in (True, False))
        assert first == second, kind


def test_an_ambiguous_answer_is_bought_again_twice_where_the_operator_opted_in():
    fault = error(ErrorKind.AMBIGUOUS)
    steps = [
        of_submit(fault, earlier=spoiled(*[ErrorKind.AMBIGUOUS] * times), may_buy_again=True).step for times in range(4)
    ]
    assert steps == ["again", "again", "fail", "fail"]


def test_an_ambiguous_answer_never_goes_to_another_route():
    for earlier in ([], spoiled(BUSY), spoiled(ErrorKind.AMBIGUOUS)):
        for may_buy_again in (True, False):
            assert of_submit(error(ErrorKind.AMBIGUOUS), earlier=earlier, may_buy_again=may_buy_again).step != "next"


def test_an_unreachable_input_is_tried_once_more_whatever_else_went_wrong():
    fault = error(ErrorKind.ASSET_UNREACHABLE)
    assert of_submit(fault, earlier=spoiled(BUSY, BUSY), may_buy_again=False).step == "again"
    last = of_submit(fault, earlier=spoiled(BUSY, ErrorKind.ASSET_UNREACHABLE), may_buy_again=False)
    assert (last.step, last.failure.type) == ("fail", "TASK_INPUT_UNREACHABLE")


def test_a_model_that_one_route_does_not_have_is_looked_for_on_the_next():
    verdict = of_submit(error(ErrorKind.INVALID_REQUEST, model_specific=True), earlier=[], may_buy_again=False)
    assert (verdict.step, verdict.failure.type) == ("next", "TASK_UPSTREAM_REJECTED")


def test_nobody_waits_for_refusals_that_do_not_pass():
    for kind in (ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED, ErrorKind.INVALID_REQUEST):
        assert of_last_route(spoiled(kind), rounds=0, retry_after=0.0) is None, kind


def test_only_the_busy_routes_are_tried_again():
    refusals = [*spoiled(ErrorKind.AUTH, route=1), *spoiled(BUSY, route=2), *spoiled(FULL, route=3)]
    wait = of_last_route(refusals, rounds=0, retry_after=0.0)
    assert wait is not None
    assert wait.routes == {2, 3}


def test_the_latest_refusal_of_a_route_counts():
    assert of_last_route(spoiled(BUSY, ErrorKind.AUTH), rounds=0, retry_after=0.0) is None


def test_a_busy_route_is_waited_for_however_often_it_was_busy():
    wait = of_last_route(spoiled(*[BUSY] * 500), rounds=499, retry_after=0.0)
    assert wait is not None
    assert wait.delay_seconds == 60


def test_waits_double_up_to_a_minute():
    waits = [of_last_route(spoiled(BUSY), rounds=rounds, retry_after=0.0) for rounds in range(8)]
    assert [wait.delay_seconds for wait in waits if wait] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_retry_after_is_respected_within_reason():
    waits = [of_last_route(spoiled(BUSY), rounds=0, retry_after=asked) for asked in (0.5, 7.0, 300.0, 1e9)]
    assert [wait.delay_seconds for wait in waits if wait] == [1.0, 7.0, 300.0, 3600.0]


def test_a_provider_that_cannot_be_reached_is_given_up_at_the_fifth_try():
    waits = [of_last_route(spoiled(*[UNREACHABLE] * tries), rounds=tries - 1, retry_after=0.0) for tries in range(1, 6)]
    assert [bool(wait) for wait in waits] == [True, True, True, True, False]


def test_earlier_waits_for_a_busy_route_do_not_count_as_unreachable():
    assert of_last_route(spoiled(*[BUSY] * 9, UNREACHABLE), rounds=9, retry_after=0.0) is not None


def test_a_reachable_route_keeps_the_others_in_play():
    refusals = [*spoiled(*[BUSY] * 9, route=1), *spoiled(*[UNREACHABLE] * 9, route=2)]
    wait = of_last_route(refusals, rounds=9, retry_after=0.0)
    assert wait is not None
    assert wait.routes == {1, 2}


def test_polls_are_tried_again_later_and_later():
    for faults, asked, seconds in ((0, None, 1), (3, None, 8), (900, None, 60), (0, 5.0, 5), (0, 999.0, 60)):
        assert retry_policy.after_poll_fault(error(BUSY, retry_after=asked), faults=faults) == seconds, (faults, asked)


def test_what_an_adapter_quotes_can_be_stored():
    error = UpstreamError(BUSY, "a\0b\ud800", code="\0", request_id="\udfff")
    assert str(error).endswith("ab?")
    quoted = described(error)
    assert (quoted["message"], quoted["code"], quoted["request_id"]) == ("ab?", "", "?")


def test_no_message_of_ours_holds_what_the_provider_said():
    for kind in ErrorKind:
        message = of_submit(error(kind), earlier=[], may_buy_again=False).failure.message
        assert "Inc." not in message
        assert "http" not in message


def test_failures_are_of_the_documented_types():
    assert {failure.type for failure in EVERY_FAILURE} <= {
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
