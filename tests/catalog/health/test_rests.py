"""Models and credentials that rest: for whom, from which refusals on, for how long, and how one call ends it."""

from typing import Any

import pytest

from adapters.base import ErrorKind
from catalog.health import rests
from catalog.models import Channel, Credential, Rest
from tests.catalog.health.conftest import Clock, available, rest, state
from tests.refusing import call, refuse, succeed

pytestmark = pytest.mark.django_db
HOUR, DAY = 3_600, 86_400


def unopened(row: Credential, **fields: object) -> None:
    refuse(row, ErrorKind.MODEL_UNAVAILABLE, code="model_not_found", **fields)  # type: ignore[arg-type]


def unpaid(row: Credential, **fields: object) -> None:
    refuse(row, ErrorKind.QUOTA_EXHAUSTED, code="insufficient_quota", **fields)  # type: ignore[arg-type]


def test_a_model_rests_for_the_account_from_its_second_refusal_in_a_row(studio: Channel, only: Credential) -> None:
    unopened(only)
    assert rest(studio) == 0
    unopened(only)
    assert rest(studio) == HOUR
    assert rest(studio, account=2) == 0
    assert rest(studio, model="another") == 0
    assert state(studio) == "ok"


def test_a_success_between_two_refusals_of_a_model_keeps_it_in_use(studio: Channel, only: Credential) -> None:
    for _ in range(3):
        unopened(only)
        succeed(only)
    assert not Rest.objects.exists()


def test_anothers_success_does_not_end_the_rest_of_an_account(studio: Channel, only: Credential) -> None:
    unopened(only)
    unopened(only)
    succeed(only, account=2)
    assert (rest(studio), rest(studio, account=2)) == (HOUR, 0)


@pytest.mark.parametrize(
    ("first", "then", "rests_for_all"),
    [
        ({"account": 1}, {"account": 2}, True),
        ({"task": "task_1"}, {"task": "task_2"}, True),
        ({"task": "task_1"}, {"task": "task_1"}, False),
        ({"task": "task_1"}, {}, False),
        ({}, {}, False),
    ],
)
def test_a_model_rests_for_all_from_refusals_of_two_accounts_or_two_tasks(
    studio: Channel, only: Credential, first: dict[str, object], then: dict[str, object], rests_for_all: bool
) -> None:
    unopened(only, **first)
    unopened(only, **then)
    assert (rest(studio, account=3) == HOUR) is rests_for_all


def test_two_accounts_with_a_success_between_them_rest_nothing(studio: Channel, only: Credential) -> None:
    unopened(only)
    succeed(only, account=3)
    unopened(only, account=2)
    assert rest(studio, account=3) == 0


def test_a_models_rests_double_up_to_a_day_and_one_call_tries_each_time(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    unopened(only)
    unopened(only, account=2)
    lengths = []
    for account in range(3, 10):
        lengths.append(rest(studio, account=account))
        clock.let_pass(lengths[-1] + 1)
        found = available(studio, account=account)
        tried = found.tried_with(only.pk)
        assert (found.obstacle, len(tried)) == ("", 1)
        assert rests.begin_trial(tried, account)
        assert not rests.begin_trial(tried, account + 100)
        assert rest(studio, account=account) == rests.TRIAL_SECONDS
        unopened(only, account=account)
    assert lengths == [HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR, 16 * HOUR, DAY, DAY]


def test_a_trial_that_is_lost_is_made_again_a_minute_later(studio: Channel, only: Credential, clock: Clock) -> None:
    unopened(only)
    unopened(only)
    clock.let_pass(HOUR + 1)
    assert rests.begin_trial(available(studio).tried_with(only.pk), 1)
    clock.let_pass(rests.TRIAL_SECONDS + 1)
    assert rests.begin_trial(available(studio).tried_with(only.pk), 1)
    succeed(only)
    assert (rest(studio), available(studio).trials) == (0, None)


def test_an_account_without_money_there_rests_the_credential_from_two_accounts_refusals(
    studio: Channel, only: Credential, second: Credential, clock: Clock
) -> None:
    unpaid(only)
    unpaid(only)
    assert available(studio, account=3).credentials == (only.pk, second.pk)
    clock.let_pass(599)
    unpaid(only, account=2)
    assert available(studio, account=3).credentials == (second.pk,)
    assert available(studio, account=3, model="another").credentials == (second.pk,)


def test_refusals_of_two_accounts_more_than_ten_minutes_apart_rest_nothing(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    unpaid(only)
    clock.let_pass(601)
    unpaid(only, account=2)
    assert rest(studio, account=3) == 0


def test_two_tasks_of_one_account_rest_the_credential_for_that_account_alone(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    """One account takes a channel from no other."""
    unpaid(only, task="task_1")
    unpaid(only, task="task_1")
    assert rest(studio) == 0
    unpaid(only, task="task_2")
    assert (rest(studio), rest(studio, account=2)) == (60, 0)
    clock.let_pass(61)
    unpaid(only, task="task_3")
    assert (rest(studio), rest(studio, account=2)) == (120, 0)


def test_relayed_calls_of_one_account_rest_no_credential(studio: Channel, only: Credential) -> None:
    for _ in range(20):
        unpaid(only)
    assert (rest(studio), state(studio)) == (0, "ok")


def test_rests_of_a_credential_double_up_to_an_hour_until_a_call_succeeds(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    unpaid(only)
    unpaid(only, account=2)
    lengths = []
    for _ in range(8):
        lengths.append(rest(studio, account=3))
        assert state(studio) == "resting"
        clock.let_pass(lengths[-1] + 1)
        assert rests.begin_trial(available(studio, account=3).tried_with(only.pk), 3)
        unpaid(only, account=3)
    assert lengths == [60, 120, 240, 480, 960, 1920, HOUR, HOUR]
    clock.let_pass(HOUR + 1)
    succeed(only, account=3)
    assert not Rest.objects.filter(account_id=0).exists()
    unpaid(only)
    assert rest(studio, account=2) == 0


@pytest.mark.parametrize(
    "kind", [ErrorKind.OVERLOADED, ErrorKind.AMBIGUOUS, ErrorKind.RATE_LIMITED, ErrorKind.MODEL_UNAVAILABLE]
)
def test_a_trial_that_decides_nothing_is_free_for_every_other_account(
    studio: Channel, only: Credential, clock: Clock, kind: ErrorKind
) -> None:
    unpaid(only)
    unpaid(only, account=2)
    clock.let_pass(61)
    tried = available(studio).tried_with(only.pk)
    assert rests.begin_trial(tried, 1)
    refuse(only, kind, tried=tried, retry_after=0.001)
    clock.let_pass(5)
    assert 0 < rest(studio) < rests.TRIAL_SECONDS
    found = available(studio, account=3)
    assert found.tried_with(only.pk) == tried
    assert not rests.begin_trial(tried, 1)
    assert rests.begin_trial(tried, 3)
    succeed(only, account=3)
    assert rest(studio) == 0


@pytest.mark.parametrize("refusal", [unopened, unpaid])
def test_a_trial_whose_request_is_refused_ends_the_rest(
    studio: Channel, only: Credential, clock: Clock, refusal: Any
) -> None:
    refusal(only)
    refusal(only, account=2)
    clock.let_pass(HOUR + 1)
    tried = available(studio, account=3).tried_with(only.pk)
    assert rests.begin_trial(tried, 3)
    refuse(only, ErrorKind.CONTENT_POLICY, account=3, tried=tried)
    assert (rest(studio, account=4), available(studio, account=4).tried_with(only.pk)) == (0, frozenset())


def test_only_documented_words_about_a_model_rest_it(studio: Channel, only: Credential) -> None:
    for account in (1, 2):
        refuse(only, ErrorKind.MODEL_UNAVAILABLE, account=account, http_status=404, is_documented=False)
    assert not Rest.objects.exists()


def test_a_credential_that_is_ready_comes_before_one_that_is_to_be_tried(
    studio: Channel, only: Credential, second: Credential, clock: Clock
) -> None:
    unpaid(only)
    unpaid(only, account=2)
    clock.let_pass(61)
    found = available(studio, account=3)
    assert (found.credentials, found.tried_with(second.pk)) == ((second.pk,), frozenset())


def test_an_account_has_a_bounded_number_of_rows_at_a_channel(studio: Channel, only: Credential) -> None:
    for number in range(rests.MOST_ROWS + 20):
        unopened(only, model=f"model-{number}")
    assert Rest.objects.filter(account_id=1).count() == rests.MOST_ROWS
    assert Rest.objects.filter(account_id=0).count() == rests.MOST_ROWS
    unopened(only, account=2)
    unopened(only, account=2)
    assert rest(studio, account=2) == HOUR


def test_what_is_long_over_is_deleted(only: Credential, clock: Clock) -> None:
    unopened(only)
    unopened(only)
    clock.let_pass(rests.KEPT_SECONDS - 10)
    unopened(only, model="another")
    assert rests.prune() == 0
    clock.let_pass(HOUR + 20)
    assert rests.prune() == 2
    assert set(Rest.objects.values_list("upstream_model", flat=True)) == {"another"}


def test_what_was_said_is_kept_without_secrets(only: Credential) -> None:
    unopened(only, words="No model for sk-live-0123456789abcdef.\n" + "Read the manual. " * 50)
    said = set(Rest.objects.values_list("said", flat=True))
    assert len(said) == 1
    (words,) = said
    assert words.startswith("model_unavailable model_not_found: No model for ")
    assert "0123456789" not in words
    assert "\n" not in words


def test_calls_of_other_channels_are_not_concerned(studio: Channel, only: Credential) -> None:
    assert call(only).channel_id == studio.pk
    unopened(only)
    unopened(only, account=2)
    assert Rest.objects.filter(until__isnull=False, channel=studio).count() == 1
