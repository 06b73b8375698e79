"""Channel health: what each answer of a provider does to its channel and to the credential it was asked with."""

import logging

import pytest

from adapters.base import ErrorKind, UpstreamError
from catalog import credentials, snapshot
from catalog.health import outcomes
from catalog.models import Channel, ChannelHealth, Credential, Rest
from tests.catalog.health.conftest import Clock, rest, state
from tests.refusing import call, refuse, succeed

pytestmark = pytest.mark.django_db


def test_a_channel_that_never_failed_is_in_use(studio: Channel, only: Credential) -> None:
    succeed(only)
    assert state(studio) == "ok"
    assert not ChannelHealth.objects.exists()


def test_a_rate_limit_rests_the_credential_with_the_model_for_as_long_as_the_provider_asks(
    studio: Channel, only: Credential
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=120.0)
    assert rest(studio) == 120
    assert rest(studio, account=2) == 120
    assert rest(studio, model="another") == 0
    assert state(studio) == "ok"
    assert not ChannelHealth.objects.exists()  # it is no failure


def test_a_second_models_rate_limit_within_the_first_ones_rest_rests_the_credential(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=120.0)
    clock.let_pass(60)
    refuse(only, ErrorKind.RATE_LIMITED, model="another", retry_after=30.0)
    assert (rest(studio, model="a third"), state(studio)) == (30, "resting")
    assert rest(studio) == 60
    clock.let_pass(31)
    assert (rest(studio, model="a third"), state(studio)) == (0, "ok")


def test_two_models_that_are_limited_one_after_the_other_do_not_rest_the_credential(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=20.0)
    clock.let_pass(21)
    refuse(only, ErrorKind.RATE_LIMITED, model="another", retry_after=20.0)
    assert (rest(studio, model="another"), rest(studio)) == (20, 0)


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED])
def test_no_provider_asks_for_more_than_five_minutes(studio: Channel, only: Credential, kind: ErrorKind) -> None:
    refuse(only, kind, retry_after=86_400.0)
    assert rest(studio) == 300


def test_rate_limits_in_a_row_rest_ever_longer_up_to_a_minute(studio: Channel, only: Credential, clock: Clock) -> None:
    rests = []
    for _ in range(8):
        refuse(only, ErrorKind.RATE_LIMITED)
        rests.append(rest(studio))
        clock.let_pass(100)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


def test_many_refusals_at_once_are_one_rest(studio: Channel, only: Credential, clock: Clock) -> None:
    for _ in range(20):
        refuse(only, ErrorKind.RATE_LIMITED)
    assert rest(studio) == 1
    clock.let_pass(2)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert rest(studio) == 2


def test_the_longer_of_two_requested_rests_holds(studio: Channel, only: Credential) -> None:
    for asked, held in ((60.0, 60), (5.0, 60), (90.0, 90)):
        refuse(only, ErrorKind.RATE_LIMITED, retry_after=asked)
        assert rest(studio) == held


def test_a_rest_that_is_lengthened_counts_once_for_the_back_off(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    for seconds in (1.0, 2.0, 3.0):
        refuse(only, ErrorKind.RATE_LIMITED, retry_after=seconds)
    clock.let_pass(4)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert rest(studio) == 2


def test_a_channel_rests_only_while_all_its_enabled_credentials_do(
    studio: Channel, only: Credential, second: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    assert rest(studio) == 0
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=90.0)
    assert rest(studio) == 60
    clock.let_pass(70)
    assert rest(studio) == 0


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED])
def test_a_success_does_not_cut_short_what_the_provider_asked_for(
    studio: Channel, only: Credential, clock: Clock, kind: ErrorKind
) -> None:
    refuse(only, kind, retry_after=60.0)
    succeed(only)
    assert rest(studio) == 60
    clock.let_pass(61)
    succeed(only)
    assert not Rest.objects.exists()
    assert not ChannelHealth.objects.exclude(cooldown_until=None).exists()


def test_a_success_starts_the_back_off_again(studio: Channel, only: Credential, clock: Clock) -> None:
    for _ in range(3):
        refuse(only, ErrorKind.RATE_LIMITED)
        clock.let_pass(10)
    succeed(only)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert rest(studio) == 1


def test_an_overload_rests_the_channel_whatever_its_credentials(
    studio: Channel, second: Credential, clock: Clock
) -> None:
    refuse(second, ErrorKind.OVERLOADED, retry_after=30.0)
    assert clock.cool_down(studio) == 30
    assert state(studio) == "resting"
    assert not Rest.objects.exists()


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED, ErrorKind.TRANSIENT])
def test_a_channel_without_a_credential_that_opens_rests_as_a_whole(
    studio: Channel, kind: ErrorKind, clock: Clock
) -> None:
    refuse(studio, kind, retry_after=30.0)
    assert clock.cool_down(studio) == 30


def test_a_channel_that_cannot_be_reached_rests_from_its_first_fault_ever_longer_up_to_a_minute(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    rests = []
    for _ in range(8):
        refuse(only, ErrorKind.TRANSIENT)
        rests.append(clock.cool_down(studio))
        clock.let_pass(400)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


OF_REQUEST = (ErrorKind.INVALID_REQUEST, ErrorKind.CONTENT_POLICY, ErrorKind.ASSET_UNREACHABLE)


@pytest.mark.parametrize("proof", [*OF_REQUEST, ErrorKind.PROVIDER_FAILED, ErrorKind.EMPTY_RESULT, None])
def test_an_answer_to_the_request_proves_the_channel_alive(
    studio: Channel, only: Credential, proof: ErrorKind | None, clock: Clock
) -> None:
    for _ in range(3):
        clock.let_pass(60)
        refuse(only, ErrorKind.TRANSIENT)
    assert state(studio) == "resting"
    if proof is None:
        succeed(only)
    else:
        refuse(only, proof)
    assert state(studio) == "ok"
    refuse(only, ErrorKind.TRANSIENT)
    assert clock.cool_down(studio) == 1


@pytest.mark.parametrize("kind", [*OF_REQUEST, ErrorKind.FORBIDDEN])
def test_a_refusal_of_the_request_and_a_bare_403_change_nothing(
    studio: Channel, only: Credential, kind: ErrorKind, clock: Clock
) -> None:
    refuse(only, ErrorKind.MODEL_UNAVAILABLE)
    before = list(Rest.objects.order_by("pk").values())
    for account in (1, 2, 3):
        for task in ("", "task_1", "task_2"):
            clock.let_pass(1)
            refuse(only, kind, account=account, task=task, http_status=403)
    assert (rest(studio), state(studio)) == (0, "ok")
    assert list(Rest.objects.order_by("pk").values()) == before
    assert not ChannelHealth.objects.exists()
    only.refresh_from_db()
    assert (only.disabled_at, only.suspected_at, only.probe_at) == (None, None, None)


def test_a_channel_without_credentials_is_not_called_disabled(studio: Channel, only: Credential) -> None:
    only.delete()
    refuse(studio, ErrorKind.AUTH, words="No key.")
    assert state(studio) == "ok"


def test_a_lost_answer_is_counted_and_told_and_nothing_else(
    studio: Channel, only: Credential, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(4):
        refuse(only, ErrorKind.AMBIGUOUS)
    assert state(studio) == "ok"
    assert ChannelHealth.objects.get().unknown_total == 4
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


def test_a_channel_that_is_gone_is_nobodys_trouble(studio: Channel, only: Credential) -> None:
    gone = call(only)
    studio.delete()
    for kind in ErrorKind:
        outcomes.refused(gone, UpstreamError(kind, "Late."))
    outcomes.succeeded([gone])
    assert not ChannelHealth.objects.exists()
    assert not Rest.objects.exists()


def test_nothing_of_this_raises_the_catalog_version(studio: Channel, only: Credential) -> None:
    version = snapshot.stored_version()
    for kind in ErrorKind:
        refuse(only, kind)
    succeed(only)
    assert snapshot.stored_version() == version


def test_a_healthy_success_writes_nothing(studio: Channel, only: Credential, django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        succeed(only)


def test_what_counts_against_others_costs_a_success_nothing(
    studio: Channel, only: Credential, second: Credential, django_assert_num_queries
) -> None:
    for _ in range(2):
        refuse(second, ErrorKind.MODEL_UNAVAILABLE, model="another")
        refuse(second, ErrorKind.AUTH)
    with django_assert_num_queries(1):
        succeed(only)


@pytest.mark.parametrize("change", ["secret", "switch", "address"])
def test_what_an_operator_changes_begins_again(studio: Channel, only: Credential, change: str) -> None:
    for task in ("task_1", "task_2"):
        refuse(only, ErrorKind.MODEL_UNAVAILABLE, task=task)
        refuse(only, ErrorKind.OVERLOADED, retry_after=300.0)
    assert rest(studio) > 0
    studio.refresh_from_db()
    only.refresh_from_db()
    match change:
        case "secret":
            assert credentials.store(studio, {"api_key": "another-key-of-the-studio"})
        case "switch":
            only.save()
        case "address":
            studio.save()
    assert rest(studio) == 0
