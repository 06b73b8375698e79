"""`Idempotency-Key`: one task per key and name, whatever a repetition looks like."""

import json

import pytest

from accounts import keys
from accounts.models import Account
from common import strict_json
from tasks import switches
from tasks.models import Task
from tests.rows import make_key
from tests.tasks_api.asking import SUBMISSION_FIELDS, end, error_of, image_task, named, refused

ORDER = {"Idempotency_Key": "order-1"}


@pytest.fixture
def first(api, image_model) -> str:
    return api.submitted(**ORDER)


def replayed(response, task_id: str) -> bool:
    """Whether the answer is the existing task's; its header about the body is left to each test."""
    assert response.status_code == 202, response.content
    assert list(response.json()) == SUBMISSION_FIELDS
    assert response.headers["Location"] == f"/v1/tasks/{task_id}"
    assert Task.objects.count() == 1
    return response.headers["Idempotency-Replayed"] == "true" and response.json()["id"] == task_id


def test_a_new_task_is_no_replay(api, image_model):
    response = api.submit(**ORDER)
    assert "Idempotency-Replayed" not in response.headers
    assert "Idempotency-Body-Mismatch" not in response.headers


def test_the_same_key_and_name_return_the_existing_task(api, first):
    response = api.submit(**ORDER)
    assert replayed(response, first)
    assert "Idempotency-Body-Mismatch" not in response.headers


def test_the_hold_is_taken_once(api, first, key):
    for _ in range(3):
        assert replayed(api.submit(**ORDER), first)
    assert Account.objects.get(pk=key.account.pk).held_micros == 40_000


def test_a_replay_tells_the_current_status(api, first):
    end(first, "succeeded")
    assert api.submit(**ORDER).json()["status"] == "succeeded"


def test_a_different_body_is_a_mismatch_and_still_a_replay(api, first):
    response = api.submit(image_task(prompt="a heron"), **ORDER)
    assert replayed(response, first)
    assert response.headers["Idempotency-Body-Mismatch"] == "true"


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(image_task(), indent=2).encode(),
        b'{"params": {"prompt": "a f\\u006fx"}, "modality": "image", "model": "aurora-image"}',
    ],
    ids=["blanks", "order-and-escapes"],
)
def test_bodies_are_compared_as_json(api, first, body):
    response = api.submit(body, **ORDER)
    assert replayed(response, first)
    assert "Idempotency-Body-Mismatch" not in response.headers


def test_a_replay_answers_an_invalid_body(api, first):
    for body in (b"", b"{", b"\xff", b"[]", b"null", b'{"model":1,"model":2}', b"[" * 5000):
        response = api.submit(body, **ORDER)
        assert replayed(response, first), body[:20]
        assert response.headers["Idempotency-Body-Mismatch"] == "true", body[:20]


def test_a_replay_answers_another_media_type(api, first):
    assert replayed(api.submit(content_type="text/plain", **ORDER), first)
    assert replayed(api.submit(Content_Encoding="gzip", **ORDER), first)


def test_a_replay_answers_over_the_rate_of_submissions(api, first, settings):
    settings.RATE_LIMITS = {"submit": 1, "read": 0}
    assert api.submit().status_code == 202
    assert refused(api.submit()) == (429, "TASK_RATE_LIMITED")
    assert api.submit(**ORDER).headers["Idempotency-Replayed"] == "true"


def test_replays_have_twice_the_rate_of_submissions(api, first, settings):
    settings.RATE_LIMITS = {"submit": 2, "read": 0}
    for _ in range(4):
        assert replayed(api.submit(**ORDER), first)
    fifth = api.submit(**ORDER)
    assert refused(fifth) == (429, "TASK_RATE_LIMITED")
    assert (fifth.headers["RateLimit-Limit"], fifth.headers["RateLimit-Remaining"]) == ("4", "0")
    assert fifth.headers["Retry-After"] == fifth.headers["RateLimit-Reset"] == "40"
    assert api.submit().status_code == 202  # their rate is their own


def test_a_large_replay_is_parsed_once_and_still_compared(api, first, monkeypatch):
    parsed, usual = [], strict_json.digest
    monkeypatch.setattr(strict_json, "digest", lambda raw: parsed.append(len(raw)) or usual(raw))
    same = json.dumps(image_task()).encode() + b" " * 100_000
    other = json.dumps(image_task(prompt="a heron")).encode() + b" " * 100_000
    for _ in range(3):
        assert "Idempotency-Body-Mismatch" not in api.submit(same, **ORDER).headers
        assert api.submit(other, **ORDER).headers["Idempotency-Body-Mismatch"] == "true"
    assert parsed == [len(same), len(other)]


def test_a_replay_answers_while_submissions_are_paused(api, first):
    switches.pause()
    assert replayed(api.submit(**ORDER), first)


def test_a_replay_answers_when_the_balance_is_gone(api, first):
    Account.objects.update(balance_micros=40_000)
    assert refused(api.submit()) == (403, "TASK_INSUFFICIENT_BALANCE")
    assert replayed(api.submit(**ORDER), first)


def test_a_replay_answers_on_subscription_billing(api, first):
    Account.objects.update(billing="subscription")
    assert replayed(api.submit(**ORDER), first)


def test_a_replay_answers_when_the_model_is_gone(api, first, image_model):
    image_model.enabled = False
    image_model.save()
    assert replayed(api.submit(**ORDER), first)


def test_no_replay_while_the_api_is_disabled(api, first):
    switches.disable_api()
    assert refused(api.submit(**ORDER)) == (503, "TASK_API_DISABLED")


def test_a_refused_request_never_consumes_its_key(api, image_model):
    switches.pause()
    assert refused(api.submit(**ORDER)) == (503, "TASK_API_PAUSED")
    switches.resume()
    for body in (b"{", {}, image_task(n=0), {**image_task(), "model": "unheard-of"}, image_task(extra_body={"n": "x"})):
        assert api.submit(body, **ORDER).status_code == 400
    Account.objects.update(balance_micros=0)
    assert refused(api.submit(**ORDER)) == (403, "TASK_INSUFFICIENT_BALANCE")
    Account.objects.update(balance_micros=1_000_000)
    assert "Idempotency-Replayed" not in api.submit(**ORDER).headers


def test_another_keys_name_makes_a_task_of_its_own(first, other_api):
    response = other_api.submit(**ORDER)
    assert response.status_code == 202
    assert response.json()["id"] != first
    assert "Idempotency-Replayed" not in response.headers


def test_another_key_of_the_same_account_makes_a_task_of_its_own(first, account, api_of):
    assert api_of(make_key(account, "second")).submit(**ORDER).json()["id"] != first


def test_without_the_header_every_request_is_a_task(api, image_model):
    assert api.submitted() != api.submitted()


def test_one_to_255_printable_ascii_characters_are_a_key(api, image_model):
    for name in ("k", "k" * 255, "a b", "!~", " ~"):
        task_id = api.submitted(Idempotency_Key=name)
        assert api.submit(Idempotency_Key=name).json()["id"] == task_id, name


def test_every_other_key_is_refused_by_name(api, image_model):
    for name in ("", "k" * 256, "ключ", "caf\xe9", "a\tb", "a\x7fb", "a\x00b"):
        assert named(api.submit(Idempotency_Key=name)) == "Idempotency-Key", name


def test_a_blank_key_is_refused_as_blank(api, image_model):
    assert error_of(api.submit(Idempotency_Key="   "))["message"] == "Idempotency-Key: must not be blank."


def test_a_rotated_secret_keeps_the_scope(account, api_of, image_model):
    key = make_key(account, "rotating")
    task_id = api_of(key).submitted(**ORDER)
    rotated = type(key)(record=key.record, secret=keys.rotate(key.record, grace_seconds=0))
    assert replayed(api_of(rotated).submit(**ORDER), task_id)
