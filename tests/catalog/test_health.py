"""Channel health: what each answer of a provider does to its channel and to the credential it was asked with."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from adapters.base import ErrorKind, UpstreamError
from catalog import credential_probes, credentials, health, snapshot
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


class Clock:
    """The database's clock: it stands still until a test lets time pass."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 31, 12, tzinfo=UTC)

    def now(self) -> str:
        return self.later("0")

    def later(self, seconds: str) -> str:
        if sql.is_postgresql():
            return f"timestamptz '{self.at}' + make_interval(secs => ({seconds})::double precision)"
        return f"strftime('%%Y-%%m-%%d %%H:%%M:%%f', '{self.at:%Y-%m-%d %H:%M:%S}', ({seconds}) || ' seconds')"

    def let_pass(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)

    def until(self, moment: datetime | None) -> float:
        """In seconds."""
        assert moment is not None
        return (moment - self.at).total_seconds()

    def rest(self, row: Credential | Channel) -> float:
        """How many seconds the row still cools down."""
        rows = ChannelHealth.objects if isinstance(row, Channel) else Credential.objects
        return self.until(rows.get(pk=row.pk).cooldown_until)


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(sql, "now", made.now)
    monkeypatch.setattr(sql, "later", made.later)
    return made


def state(channel: Channel) -> str:
    disabled, resting = health.unusable()
    return "disabled" if channel.pk in disabled else "resting" if channel.pk in resting else "ok"


def test_a_channel_that_never_failed_is_in_use(studio: Channel, only: Credential) -> None:
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "ok"
    assert not ChannelHealth.objects.exists()


def test_a_rate_limit_rests_the_credential_for_as_long_as_the_provider_asks(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=120.0)
    assert clock.rest(only) == 120
    assert state(studio) == "resting"
    assert not ChannelHealth.objects.exists()  # it is no failure


def test_no_provider_rests_a_credential_for_more_than_an_hour(only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=86_400.0)
    assert clock.rest(only) == 3600


def test_rate_limits_in_a_row_rest_ever_longer_up_to_a_minute(only: Credential, clock: Clock) -> None:
    rests = []
    for _ in range(8):
        refuse(only, ErrorKind.RATE_LIMITED)
        rests.append(clock.rest(only))
        clock.let_pass(100)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


def test_many_refusals_at_once_are_one_cool_down(only: Credential, clock: Clock) -> None:
    for _ in range(20):
        refuse(only, ErrorKind.RATE_LIMITED)
    assert clock.rest(only) == 1
    clock.let_pass(2)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert clock.rest(only) == 2


def test_the_longer_of_two_requested_rests_holds(only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=5.0)
    assert clock.rest(only) == 60
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=90.0)
    assert clock.rest(only) == 90


def test_a_rest_that_is_extended_counts_once_for_the_back_off(only: Credential, clock: Clock) -> None:
    for seconds in (1.0, 2.0, 3.0):
        refuse(only, ErrorKind.RATE_LIMITED, retry_after=seconds)
    clock.let_pass(4)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert clock.rest(only) == 2


def test_a_channel_rests_only_while_all_its_enabled_credentials_do(
    studio: Channel, only: Credential, second: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    assert state(studio) == "ok"
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=90.0)
    assert state(studio) == "resting"
    clock.let_pass(70)
    assert state(studio) == "ok"


def test_a_success_does_not_cut_short_what_the_provider_asked_for(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=60.0)
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "resting"


def test_a_success_does_not_wake_a_channel_that_is_overloaded(studio: Channel, only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.OVERLOADED, retry_after=60.0)
    health.succeeded(studio.pk, only.pk)
    assert state(studio) == "resting"
    clock.let_pass(61)
    health.succeeded(studio.pk, only.pk)
    assert ChannelHealth.objects.get().cooldown_until is None


def test_a_success_starts_the_back_off_anew(studio: Channel, only: Credential, clock: Clock) -> None:
    for _ in range(3):
        refuse(only, ErrorKind.RATE_LIMITED)
        clock.let_pass(10)
    health.succeeded(studio.pk, only.pk)
    refuse(only, ErrorKind.RATE_LIMITED)
    assert clock.rest(only) == 1


def test_an_overload_rests_the_channel_whatever_its_credentials(
    studio: Channel, second: Credential, clock: Clock
) -> None:
    refuse(second, ErrorKind.OVERLOADED, retry_after=30.0)
    assert clock.rest(studio) == 30
    assert state(studio) == "resting"
    assert Credential.objects.get(pk=second.pk).cooldown_until is None


@pytest.mark.parametrize("kind", [ErrorKind.RATE_LIMITED, ErrorKind.OVERLOADED, ErrorKind.TRANSIENT])
def test_a_channel_rests_as_long_as_it_asks_for(studio: Channel, kind: ErrorKind, clock: Clock) -> None:
    health.refused(studio.pk, None, UpstreamError(kind, "Come back later.", retry_after=30.0))
    assert clock.rest(studio) == 30


def test_a_channel_that_cannot_be_reached_rests_from_its_first_fault_ever_longer_up_to_a_minute(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    rests = []
    for _ in range(8):
        refuse(only, ErrorKind.TRANSIENT)
        rests.append(clock.rest(studio))
        clock.let_pass(400)
    assert rests == [1, 2, 4, 8, 16, 32, 60, 60]


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
    studio: Channel, only: Credential, proof: ErrorKind | None, clock: Clock
) -> None:
    for _ in range(3):
        clock.let_pass(60)
        refuse(only, ErrorKind.TRANSIENT)
    assert state(studio) == "resting"
    if proof is None:
        health.succeeded(studio.pk, only.pk)
    else:
        refuse(only, proof)
    assert state(studio) == "ok"
    refuse(only, ErrorKind.TRANSIENT)
    assert clock.rest(studio) == 1


@pytest.mark.parametrize("kind", [ErrorKind.AUTH, ErrorKind.QUOTA_EXHAUSTED])
def test_a_refused_credential_is_disabled_with_reason_and_time(
    studio: Channel, only: Credential, kind: ErrorKind, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    refuse(only, kind, code="invalid_api_key", http_status=401)
    row = Credential.objects.get()
    assert row.reason == f"{kind.value} invalid_api_key: The provider's words."
    assert row.disabled_at == clock.at
    assert clock.until(row.probe_at) == 10
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
    assert ChannelHealth.objects.get().unknown_total == 4
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


def test_a_channel_that_is_gone_is_nobodys_trouble(studio: Channel, only: Credential) -> None:
    channel, credential = studio.pk, only.pk
    studio.delete()
    for kind in ErrorKind:
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


def test_a_probe_is_due_once_and_not_before_its_time(only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.AUTH)
    assert credential_probes.claim_probe() is None
    clock.let_pass(31)
    assert credential_probes.claim_probe() == only.pk
    assert credential_probes.claim_probe() is None


def test_failed_probes_come_at_growing_distances_up_to_an_hour(only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.AUTH)
    waits = []
    for _ in range(11):
        waits.append(clock.until(Credential.objects.get().probe_at))
        clock.let_pass(3_700)
        assert credential_probes.claim_probe() == only.pk
    assert waits == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


def test_a_credential_that_passes_its_probe_is_in_use_again(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    assert credential_probes.recover(only.pk)
    row = Credential.objects.get()
    assert (row.disabled_at, row.reason, row.probe_at) == (None, "", None)
    assert state(studio) == "ok"


def test_a_credential_that_only_answers_probes_waits_longer_each_time(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    waits = []
    for _ in range(3):
        refuse(only, ErrorKind.QUOTA_EXHAUSTED)
        waits.append(clock.until(Credential.objects.get().probe_at))
        clock.let_pass(3_700)
        assert credential_probes.claim_probe() == only.pk
        assert credential_probes.recover(only.pk)
    assert waits == [10, 20, 40]
    health.succeeded(studio.pk, only.pk)
    refuse(only, ErrorKind.QUOTA_EXHAUSTED)
    assert clock.until(Credential.objects.get().probe_at) == 10


def test_what_an_operator_disabled_is_never_probed_nor_enabled(only: Credential) -> None:
    credentials.disable(only, "by an operator")
    only.save()
    refuse(only, ErrorKind.AUTH)
    assert Credential.objects.get().probe_at is None
    assert credential_probes.claim_probe() is None
    assert not credential_probes.recover(only.pk)


def test_the_credentials_of_a_disabled_channel_are_not_probed(studio: Channel, only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.AUTH)
    clock.let_pass(31)
    Channel.objects.update(enabled=False)
    assert credential_probes.claim_probe() is None


def test_a_new_secret_enables_at_once(studio: Channel, only: Credential) -> None:
    refuse(only, ErrorKind.AUTH)
    assert credentials.store(studio, {"api_key": "another-key-of-the-studio"})
    assert state(studio) == "ok"
    assert [row.probe_at for row in credentials.of_channel(studio.pk)] == [None, None]
