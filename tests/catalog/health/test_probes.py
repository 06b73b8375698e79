"""Credentials that are suspected, disabled and brought back by probes."""

import pytest

from adapters.base import ErrorKind
from catalog import credentials
from catalog.health import probes
from catalog.models import Channel, Credential
from tests.catalog.health.conftest import Clock, rest, state
from tests.refusing import refuse, succeed

pytestmark = pytest.mark.django_db
REASON = "auth invalid_api_key: The provider's words."


def suspect(row: Credential) -> None:
    refuse(row, ErrorKind.AUTH, code="invalid_api_key", http_status=401)


def test_a_refused_credential_is_suspected_and_stays_in_use_until_its_probe(
    studio: Channel, only: Credential, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(5):
        suspect(only)
    only.refresh_from_db()
    assert (only.disabled_at, only.suspected_at, only.probe_at, only.reason) == (None, clock.at, clock.at, REASON)
    assert (state(studio), rest(studio)) == ("ok", 0)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_one_process_makes_the_probe_and_another_half_a_minute_later(only: Credential, clock: Clock) -> None:
    suspect(only)
    assert probes.seconds_to_next() == 0
    assert probes.claim(only.pk)
    assert not probes.claim(only.pk)
    assert probes.claim_due() is None
    clock.let_pass(31)
    assert probes.claim_due() == only.pk


def test_a_probe_that_passes_leaves_the_credential_and_speaks_for_it_a_minute(only: Credential, clock: Clock) -> None:
    suspect(only)
    assert probes.claim(only.pk)
    probes.passed(only.pk)
    only.refresh_from_db()
    assert (only.suspected_at, only.probe_at, only.reason, only.disabled_at) == (None, None, "", None)
    clock.let_pass(20)
    suspect(only)
    assert not probes.claim(only.pk)
    clock.let_pass(41)
    assert probes.claim(only.pk)


def test_a_success_ends_the_suspicion(only: Credential) -> None:
    suspect(only)
    succeed(only, account=2)
    only.refresh_from_db()
    assert (only.suspected_at, only.probe_at, only.reason) == (None, None, "")


def test_a_channel_is_disabled_only_without_any_enabled_credential(
    studio: Channel, only: Credential, second: Credential
) -> None:
    assert probes.disable(only.pk, REASON)
    assert state(studio) == "ok"
    assert probes.disable(second.pk, REASON)
    assert state(studio) == "disabled"
    assert not probes.disable(second.pk, REASON)


def test_a_probe_of_a_disabled_credential_is_due_once_and_not_before_its_time(only: Credential, clock: Clock) -> None:
    probes.disable(only.pk, REASON)
    assert probes.claim_due() is None
    clock.let_pass(31)
    assert probes.claim_due() == only.pk
    assert probes.claim_due() is None


def test_failed_probes_come_at_growing_distances_up_to_an_hour(only: Credential, clock: Clock) -> None:
    probes.disable(only.pk, REASON)
    waits = []
    for _ in range(11):
        waits.append(clock.until(Credential.objects.get().probe_at))
        clock.let_pass(3_700)
        assert probes.claim_due() == only.pk
    assert waits == [10, 20, 40, 80, 160, 320, 640, 1280, 2560, 3600, 3600]


def test_a_credential_that_passes_its_probe_is_in_use_again(studio: Channel, only: Credential) -> None:
    probes.disable(only.pk, REASON)
    assert probes.recover(only.pk)
    row = Credential.objects.get()
    assert (row.disabled_at, row.reason, row.probe_at) == (None, "", None)
    assert state(studio) == "ok"


def test_a_credential_that_only_answers_probes_waits_longer_each_time(only: Credential, clock: Clock) -> None:
    waits = []
    for _ in range(3):
        probes.disable(only.pk, REASON)
        waits.append(clock.until(Credential.objects.get().probe_at))
        clock.let_pass(3_700)
        assert probes.claim_due() == only.pk
        assert probes.recover(only.pk)
    assert waits == [10, 20, 40]
    succeed(only)
    probes.disable(only.pk, REASON)
    assert clock.until(Credential.objects.get().probe_at) == 10


def test_what_an_operator_disabled_is_never_probed_nor_enabled(only: Credential) -> None:
    suspect(only)
    only.refresh_from_db()
    credentials.disable(only, "by an operator")
    only.save()
    suspect(only)
    row = Credential.objects.get()
    assert (row.probe_at, row.suspected_at, row.reason) == (None, None, "by an operator")
    assert probes.claim_due() is None
    assert not probes.recover(only.pk)
    probes.passed(only.pk)
    assert Credential.objects.get().disabled_at is not None


def test_the_credentials_of_a_disabled_channel_are_not_probed(only: Credential, clock: Clock) -> None:
    probes.disable(only.pk, REASON)
    clock.let_pass(31)
    Channel.objects.update(enabled=False)
    assert probes.claim_due() is None


def test_a_new_secret_enables_at_once(studio: Channel, only: Credential) -> None:
    probes.disable(only.pk, REASON)
    assert credentials.store(studio, {"api_key": "another-key-of-the-studio"})
    assert state(studio) == "ok"
    assert [row.probe_at for row in credentials.of_channel(studio.pk)] == [None, None]
