"""Channel health: what each answer of a provider does to its channel and to the credential it was asked with."""

import logging
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from adapters.base import ErrorKind, UpstreamError
from catalog import credentials, disabling, health, snapshot
from catalog.models import Channel, ChannelHealth, Credential
from common import sql
from tests.rows import add_credential

pytestmark = pytest.mark.django_db


@pytest.fixture
def only(studio: Channel) -> Credential:
    return credentials.of_channel(studio.pk)[0]


@pytest.fixture
def second(studio: Channel, only: Credential) -> Credential:
    return add_credential(studio, "the-second-credential-5678")


def refuse(row: Credential, kind: ErrorKind, **fields: object) -> None:
    health.refused(row.channel_id, row.pk, UpstreamError(kind, "The provider's words.", **fields))  # type: ignore[arg-type]


def seconds_until(moment: datetime | None) -> float:
    assert moment is not None
    return (moment - timezone.now()).total_seconds()


def cooldown(row: Credential | Channel) -> float:
    """How long the row still rests."""
    if isinstance(row, Channel):
        return seconds_until(ChannelHealth.objects.get(channel=row).cooldown_until)
    return seconds_until(Credential.objects.get(pk=row.pk).cooldown_until)


def pass_time(seconds: float) -> None:
    """Move every moment that is waited for into the past by so much."""
    for kind, column in ((ChannelHealth, "cooldown_until"), (Credential, "cooldown_until"), (Credential, "probe_at")):
        for row in kind.objects.exclude(**{column: None}):
            moved = sql.moment(getattr(row, column) - timedelta(seconds=seconds))
            sql.run(
                f"UPDATE {kind._meta.db_table} SET {column} = %s WHERE {kind._meta.pk.column} = %s", [moved, row.pk]
            )


def state(channel: Channel) -> str:
    disabled, resting = health.unusable()
    return "disabled" if channel.pk in disabled else "resting" if channel.pk in resting else "ok"


def test_a_channel_that_never_failed_is_in_use(studio: Channel, only: Credential) -> None:
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "ok"
    assert not ChannelHealth.objects.exists()


def test_a_rate_limit_rests_the_credential_for_as_long_as_the_provider_asks(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=120.0)
    assert cooldown(only) == pytest.approx(120, abs=2)
    assert state(studio) == "resting"
    assert not ChannelHealth.objects.exists()  # it is no failure


def test_no_provider_rests_a_credential_for_more_than_an_hour(only: Credential) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=86_400.0)
    assert cooldown(only) == pytest.approx(3600, abs=2)


def test_rate_limits_in_a_row_rest_ever_longer_up_to_a_minute(only: Credential) -> None:
    rests = []
    for _ in range(8):
        refuse(only, ErrorKind.RATE_LIMITED)
        rests.append(round(cooldown(only)))
        pass_time(100)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


def test_many_refusals_at_once_are_one_cool_down(only: Credential) -> None:
    for _ in range(20):
        refuse(only, ErrorKind.RATE_LIMITED)
    assert cooldown(only) < 1.1
    pass_time(2)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert cooldown(only) == pytest.approx(2, abs=0.3)


def test_the_longer_of_two_requested_rests_holds(only: Credential) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=5.0)
    assert cooldown(only) == pytest.approx(60, abs=2)
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=90.0)
    assert cooldown(only) == pytest.approx(90, abs=2)


def test_a_rest_that_is_extended_counts_once_for_the_back_off(only: Credential) -> None:
    for seconds in (1.0, 2.0, 3.0):
        refuse(only, ErrorKind.RATE_LIMITED, retry_after=seconds)
    pass_time(4)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert cooldown(only) == pytest.approx(2, abs=0.3)


def test_a_channel_rests_only_while_all_its_enabled_credentials_do(
    studio: Channel, only: Credential, second: Credential
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    assert state(studio) == "ok"
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=90.0)
    assert state(studio) == "resting"
    pass_time(70)
    assert state(studio) == "ok"


def test_a_success_does_not_cut_short_what_the_provider_asked_for(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "resting"


def test_a_success_does_not_wake_a_channel_that_is_overloaded(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.OVERLOADED, retry_after=60.0)
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "resting"
    pass_time(61)
    health.succeeded(studio.pk, only.pk)
    assert ChannelHealth.objects.get().cooldown_until is None


def test_a_success_starts_the_back_off_anew(studio: Channel, only: Credential) -> None:
    for _ in range(3):
        refuse(only, ErrorKind.RATE_LIMITED)
        pass_time(10)
    health.succeeded(studio.pk, only.pk)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert cooldown(only) < 1.1


def test_an_overload_rests_the_channel_whatever_its_credentials(studio: Channel, second: Credential) -> None:
    refuse(second, ErrorKind.OVERLOADED, retry_after=30.0)
    assert cooldown(studio) == pytest.approx(30, abs=2)
    assert state(studio) == "resting"
    assert Credential.objects.get(pk=second.pk).cooldown_until is None


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED])
def test_a_channel_that_is_busy_rests_without_a_fault(studio: Channel, kind: ErrorKind) -> None:
    health.refused(studio.pk, None, UpstreamError(kind, "Come back later.", retry_after=30.0))
    assert state(studio) == "resting"
    assert ChannelHealth.objects.get().faults == 0


def test_a_channel_rests_from_the_third_fault_in_a_row(studio: Channel, only: Credential) -> None:
    states = []
    for _ in range(3):
        refuse(only, ErrorKind.TRANSIENT)
        states.append(state(studio))
    assert states == ["ok", "ok", "resting"]
    assert cooldown(studio) == pytest.approx(2, abs=0.5)


def test_faults_that_go_on_rest_a_channel_for_up_to_a_minute(studio: Channel, only: Credential) -> None:
    rests = []
    for number in range(11):
        refuse(only, ErrorKind.TRANSIENT)
        if number >= 2:
            rests.append(round(cooldown(studio)))
        pass_time(400)
    assert rests == [2, 4, 8, 16, 32, 60, 60, 60, 60]


@pytest.mark.parametrize(
    "proof",
    [
        ErrorKind.INVALID_REQUEST,
        ErrorKind.CONTENT_POLICY,
        ErrorKind.ASSET_UNREACHABLE,
        ErrorKind.PROVIDER_FAILED,
        ErrorKind.EMPTY_RESULT,
        None,
    ],
)
def test_an_answer_to_the_request_proves_the_channel_alive(
    studio: Channel, only: Credential, proof: ErrorKind | None
) -> None:
    for _ in range(3):
        refuse(only, ErrorKind.TRANSIENT)
    if proof is None:
        health.succeeded(studio.pk, only.pk)
    else:
        refuse(only, proof)
    assert state(studio) == "ok"
    refuse(only, ErrorKind.TRANSIENT)
    assert state(studio) == "ok"
    assert ChannelHealth.objects.get().faults == 1


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED])
def test_a_refused_credential_is_disabled_with_reason_and_time(
    studio: Channel, only: Credential, kind: ErrorKind, caplog: pytest.LogCaptureFixture
) -> None:
    refuse(only, kind, code="invalid_api_key", http_status=401)
    row = Credential.objects.get()
    assert row.reason == f"{kind.value} invalid_api_key: The provider's words."
    assert -5 < seconds_until(row.disabled_at) <= 0
    assert seconds_until(row.probe_at) == pytest.approx(10, abs=2)
    assert state(studio) == "disabled"
    assert [record.levelname for record in caplog.records] == ["ERROR"]


def test_a_credential_is_disabled_and_told_of_once(only: Credential, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(5):
        refuse(only, ErrorKind.AUTH)
    assert len(caplog.records) == 1


def test_the_reason_is_short_and_holds_no_credential(studio: Channel, only: Credential) -> None:
    error = UpstreamError(ErrorKind.AUTH, "Incorrect key sk-live-0123456789abcdef.\n" + "Read the manual. " * 50)
    health.refused(studio.pk, only.pk, error)
    reason = Credential.objects.get().reason
    assert len(reason) == 200
    assert "0123456789" not in reason
    assert "\n" not in reason


def test_a_channel_is_disabled_only_without_any_enabled_credential(
    studio: Channel, only: Credential, second: Credential
) -> None:
    refuse(only, ErrorKind.AUTH)
    assert state(studio) == "ok"
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=60.0)
    assert state(studio) == "resting"
    refuse(second, ErrorKind.QUOTA_EXHAUSTED)
    assert state(studio) == "disabled"


def test_a_channel_without_credentials_is_not_called_disabled(studio: Channel, only: Credential) -> None:
    only.delete()
    health.refused(studio.pk, None, UpstreamError(ErrorKind.AUTH, "No key."))
    assert state(studio) == "ok"


def test_a_lost_answer_is_counted_and_told_and_nothing_else(
    studio: Channel, only: Credential, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(4):
        refuse(only, ErrorKind.AMBIGUOUS)
    assert state(studio) == "ok"
    assert (ChannelHealth.objects.get().unknown_total, ChannelHealth.objects.get().faults) == (4, 0)
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


@pytest.mark.parametrize("kind", list(ErrorKind))
def test_a_channel_that_is_gone_is_nobodys_trouble(studio: Channel, only: Credential, kind: ErrorKind) -> None:
    channel, credential = studio.pk, only.pk
    studio.delete()
    health.refused(channel, credential, UpstreamError(kind, "Late."))
    health.refused(None, None, UpstreamError(kind, "Late."))
    health.succeeded(None, None)
    assert not ChannelHealth.objects.exists()


def test_nothing_of_this_raises_the_catalog_version(studio: Channel, only: Credential) -> None:
    version = snapshot.stored_version()
    for kind in ErrorKind:
        refuse(only, kind)
    health.succeeded(studio.pk, only.pk)
    assert snapshot.stored_version() == version


def test_a_healthy_success_writes_nothing(studio: Channel, only: Credential, django_assert_num_queries) -> None:
    with django_assert_num_queries(1):
        health.succeeded(studio.pk, only.pk)


def test_another_credential_is_one_that_could_be_used_now(
    studio: Channel, only: Credential, second: Credential
) -> None:
    assert health.has_other_credential(studio.pk, only.pk)
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=60.0)
    assert not health.has_other_credential(studio.pk, only.pk)
    pass_time(61)
    assert health.has_other_credential(studio.pk, only.pk)
    refuse(second, ErrorKind.AUTH)
    assert not health.has_other_credential(studio.pk, only.pk)


def test_what_no_key_opens_is_no_other_credential(studio: Channel, only: Credential, second: Credential) -> None:
    sql.run("UPDATE catalog_credential SET ciphertext = 'unreadable' WHERE id = %s", [second.pk])
    assert not health.has_other_credential(studio.pk, only.pk)


def test_a_call_without_a_credential_has_no_other(studio: Channel, only: Credential) -> None:
    assert not health.has_other_credential(studio.pk, None)
    assert not health.has_other_credential(None, None)


def test_a_probe_is_due_once_and_not_before_its_time(only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    assert disabling.claim_probe() is None
    pass_time(31)
    assert disabling.claim_probe() == only.pk
    assert disabling.claim_probe() is None


def test_failed_probes_come_at_growing_distances_up_to_an_hour(only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    waits = []
    for _ in range(11):
        waits.append(round(seconds_until(Credential.objects.get().probe_at)))
        pass_time(3_700)
        assert disabling.claim_probe() == only.pk
    assert waits == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


def test_a_credential_that_passes_its_probe_is_in_use_again(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    assert disabling.recover(only.pk)
    row = Credential.objects.get()
    assert (row.disabled_at, row.reason, row.probe_at) == (None, "", None)
    assert state(studio) == "ok"


def test_a_credential_that_only_answers_probes_waits_longer_each_time(studio: Channel, only: Credential) -> None:
    waits = []
    for _ in range(3):
        refuse(only, ErrorKind.QUOTA_EXHAUSTED)
        waits.append(round(seconds_until(Credential.objects.get().probe_at)))
        pass_time(3_700)
        assert disabling.claim_probe() == only.pk
        assert disabling.recover(only.pk)
    assert waits == [10, 20, 40]
    health.succeeded(studio.pk, only.pk)
    refuse(only, ErrorKind.QUOTA_EXHAUSTED)
    assert seconds_until(Credential.objects.get().probe_at) == pytest.approx(10, abs=2)


def test_what_an_operator_disabled_is_never_probed_nor_enabled(only: Credential) -> None:
    credentials.disable(only, "by an operator")
    only.save()
    refuse(only, ErrorKind.AUTH)
    assert Credential.objects.get().probe_at is None
    assert disabling.claim_probe() is None
    assert not disabling.recover(only.pk)


def test_the_credentials_of_a_disabled_channel_are_not_probed(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    pass_time(31)
    Channel.objects.update(enabled=False)
    assert disabling.claim_probe() is None


def test_a_new_secret_enables_at_once(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    assert credentials.store(studio, {"api_key": "another-key-of-the-studio"})
    assert state(studio) == "ok"
    assert Credential.objects.get().probe_at is None
