"""pause, resume, disable_api and enable_api."""

import pytest

from accounts import authentication
from common.errors import ApiDisabled
from tasks.models import ServiceState

pytestmark = pytest.mark.django_db

OPEN = {"paused": False, "message": "", "retry_after": 60, "api_disabled": False}


def service(key):
    return authentication.admit(f"Bearer {key.secret}").service


def test_a_pause_tells_its_message_and_when_to_come_back(run, acme_key):
    answer = run("pause", "--message", "Back at noon.", "--retry-after", "900")
    assert answer == {**OPEN, "paused": True, "message": "Back at noon.", "retry_after": 900}
    seen = service(acme_key)
    assert (seen.is_paused, seen.message, seen.retry_after_seconds) == (True, "Back at noon.", 900)


def test_a_pause_needs_no_arguments(run, acme_key):
    assert run("pause") == {**OPEN, "paused": True}


def test_a_second_pause_replaces_the_first(run):
    run("pause", "--message", "first")
    assert run("pause", "--retry-after", "5") == {**OPEN, "paused": True, "retry_after": 5}


def test_resuming_opens_submissions_however_often(run, acme_key):
    run("pause", "--message", "later")
    for _ in range(2):
        assert run("resume") == OPEN
    assert not service(acme_key).is_paused


def test_a_disabled_api_lets_nobody_in_until_it_is_enabled(run, acme_key):
    for _ in range(2):
        assert run("disable_api")["api_disabled"] is True
    with pytest.raises(ApiDisabled):
        service(acme_key)
    for _ in range(2):
        assert run("enable_api") == OPEN
    service(acme_key)


def test_enabling_the_api_does_not_end_a_pause(run):
    run("pause")
    run("disable_api")
    assert run("enable_api")["paused"] is True


def test_a_bad_argument_pauses_nothing(refusal):
    for value in ("0", "86401", "-5", "soon"):
        assert refusal("pause", f"--retry-after={value}").startswith("--retry-after: "), value
    for message in ("m" * 501, "a\0"):
        assert refusal("pause", f"--message={message}").startswith("--message: "), message[:9]
    assert not ServiceState.objects.get().paused
