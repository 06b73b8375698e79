"""Where a call goes after an upstream's error, and what its client reads where it goes nowhere."""

import pytest

from adapters.base import ErrorKind, UpstreamError
from catalog.relay_channels import Resting
from common.errors import (
    ModelNotFound,
    UpstreamBusy,
    UpstreamForbidden,
    UpstreamRefusal,
    UpstreamTimeout,
    UpstreamUnavailable,
    UpstreamUnknown,
)
from relay.calls import failover
from relay.calls.ending import Finish


def error(kind: ErrorKind, message: str = "words", **details: object) -> UpstreamError:
    return UpstreamError(kind, message, **details)


def rests(**seconds: float) -> list[Resting]:
    """Channels that rest, by cause, so long."""
    return [Resting(seconds=left, cause=cause) for cause, left in seconds.items()]


LIMITED = error(ErrorKind.RATE_LIMITED, retry_after=7.2)
REFUSED = error(ErrorKind.TRANSIENT)
GOES_ON = {
    "refused connection": REFUSED,
    "rate limit": LIMITED,
    "overload": error(ErrorKind.OVERLOADED, http_status=529),
    "credential": error(ErrorKind.AUTH, http_status=401),
    "no credit": error(ErrorKind.QUOTA_EXHAUSTED, http_status=402),
    "forbidden without a reason": error(ErrorKind.FORBIDDEN, http_status=403),
    "no such model there": error(ErrorKind.MODEL_UNAVAILABLE, http_status=404),
}
ENDS = {
    "lost answer": error(ErrorKind.AMBIGUOUS, http_status=500),
    "bad request": error(ErrorKind.INVALID_REQUEST, http_status=400),
    "policy": error(ErrorKind.CONTENT_POLICY, http_status=400),
    "failed run": error(ErrorKind.PROVIDER_FAILED),
}


@pytest.mark.parametrize("seen", GOES_ON.values(), ids=GOES_ON.keys())
def test_a_call_goes_on_where_surely_nothing_was_accepted(seen) -> None:
    assert failover.may_go_on(seen)


@pytest.mark.parametrize("seen", ENDS.values(), ids=ENDS.keys())
def test_a_call_ends_where_something_may_have_been_accepted_or_the_request_is_refused(seen) -> None:
    assert not failover.may_go_on(seen)


@pytest.mark.parametrize(
    ("errors", "resting", "raised", "wait"),
    [
        ([], [], UpstreamUnavailable, None),
        ([], rests(rate=0.2), UpstreamBusy, "1"),
        ([], rests(overloaded=300.0, rate=3600.0), UpstreamBusy, "60"),
        ([], rests(account=50.0), UpstreamUnavailable, "50"),
        ([], rests(account=50.0, rate=3.0), UpstreamBusy, "3"),
        ([], rests(account=50.0, model=3.0), UpstreamUnavailable, "50"),
        ([LIMITED], [], UpstreamBusy, "8"),
        ([LIMITED, REFUSED], rests(rate=3.0), UpstreamBusy, "3"),
        ([REFUSED], [], UpstreamUnavailable, None),
        ([error(ErrorKind.OVERLOADED, retry_after=2.0)], [], UpstreamUnavailable, "2"),
        ([error(ErrorKind.AUTH, http_status=401)], [], UpstreamUnavailable, None),
    ],
)
def test_a_call_that_no_channel_takes_says_when_to_come_back(errors, resting, raised, wait) -> None:
    """After rate limits it is the caller's to wait; a provider's 401 is none of the caller's."""
    ended = failover.end_without_answer(errors, resting, model="gpt-5")
    assert (type(ended.error), ended.finish) == (raised, Finish.REFUSED)
    assert ended.error.headers.get("Retry-After") == wait
    assert not ended.error.may_have_cost


def test_a_model_that_every_channel_refuses_does_not_exist() -> None:
    unknown = GOES_ON["no such model there"]
    ended = failover.end_without_answer([unknown, unknown], [], model="gpt-5")
    assert (type(ended.error), ended.finish) == (ModelNotFound, Finish.REFUSED)
    assert (ended.error.message, ended.error.param) == ("The model `gpt-5` does not exist.", "model")
    assert ended.error.headers == {}


def test_a_model_that_rests_at_every_channel_does_not_exist() -> None:
    for errors in ([], [GOES_ON["no such model there"]]):
        assert isinstance(failover.end_without_answer(errors, rests(model=3600.0), model="gpt-5").error, ModelNotFound)


@pytest.mark.parametrize(("errors", "resting"), [([REFUSED], []), ([], rests(rate=3.0))])
def test_a_model_that_another_channel_may_have_is_only_unavailable(errors, resting) -> None:
    ended = failover.end_without_answer([*errors, GOES_ON["no such model there"]], resting, model="gpt-5")
    assert isinstance(ended.error, UpstreamUnavailable)


@pytest.mark.parametrize(
    ("seen", "raised"),
    [
        (error(ErrorKind.AMBIGUOUS, http_status=500), UpstreamUnknown),
        (error(ErrorKind.AMBIGUOUS, code="time"), UpstreamTimeout),
        (error(ErrorKind.PROVIDER_FAILED), UpstreamUnknown),
    ],
)
def test_an_answer_that_is_lost_is_the_operators_loss_and_not_to_be_repeated(seen, raised) -> None:
    ended = failover.end_without_answer([LIMITED, seen], [], model="gpt-5")
    assert (type(ended.error), ended.finish, ended.error.may_have_cost) == (raised, Finish.UNKNOWN, True)


@pytest.mark.parametrize(
    ("status", "error_type"),
    [
        (400, "invalid_request_error"),
        (402, "invalid_request_error"),
        (422, "invalid_request_error"),
        (413, "request_too_large"),
        (451, "invalid_request_error"),
        (None, "invalid_request_error"),
    ],
)
def test_a_refused_request_is_a_400_in_the_providers_words(status, error_type) -> None:
    said = error(ErrorKind.INVALID_REQUEST, "max_tokens is too large, Bearer sk-1234567890abcdef", http_status=status)
    ended = failover.end_without_answer([said], [], model="gpt-5")
    assert isinstance(ended.error, UpstreamRefusal)
    assert (ended.error.status, ended.error.type, ended.finish) == (400, error_type, Finish.REFUSED)
    assert ended.error.message.startswith("max_tokens is too large")
    assert "sk-1234567890abcdef" not in ended.error.message


@pytest.mark.parametrize("seen", GOES_ON.values(), ids=GOES_ON.keys())
def test_no_error_behind_a_part_of_an_answer_goes_on(seen) -> None:
    assert not failover.may_go_on(failover.after_partial_answer(seen))


def test_a_refusal_behind_a_part_of_an_answer_is_told_and_is_the_operators_loss() -> None:
    late = failover.after_partial_answer(error(ErrorKind.INVALID_REQUEST, "not this", http_status=422))
    call = failover.end_without_answer([late], [], model="m")
    assert (call.error.message, call.error.status, call.finish) == ("not this", 400, Finish.UNKNOWN)


def test_a_403_of_every_channel_ends_the_call_and_is_not_the_callers_fault() -> None:
    forbidden, unknown = GOES_ON["forbidden without a reason"], GOES_ON["no such model there"]
    for errors in ([forbidden], [forbidden, forbidden], [forbidden, unknown], [unknown, forbidden]):
        ended = failover.end_without_answer(errors, [], model="m")
        assert (type(ended.error), ended.error.status, ended.finish) == (UpstreamForbidden, 502, Finish.REFUSED)
        assert not ended.error.may_have_cost
    assert isinstance(
        failover.end_without_answer([forbidden], rests(account=3.0), model="m").error, UpstreamUnavailable
    )
    assert isinstance(failover.end_without_answer([forbidden, REFUSED], [], model="m").error, UpstreamUnavailable)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("Too large for m in organization org-AbC1234567890: Limit 1", "Too large for m in organization …: Limit 1"),
        ("Your team 5f5e1111-2222-3333-4444-555566667777 is blocked", "Your team … is blocked"),
        ("The account 2100012345 asked", "The account … asked"),
        ("projects/123456789/locations/us has none", "projects/…/locations/us has none"),
        ("Write to ops@example.com.", "Write to …."),
        ("visit https://openrouter.ai/settings/keys/0a1b2c3d4e and adjust", "visit … and adjust"),
        ("large in organization acme-media on tokens", "large in organization … on tokens"),
        ("large in organization acme on tokens", "large in organization … on tokens"),
        ("organization org-abcdefghijklmnop (acme) is full", "organization … is full"),
        ("account 2100123456 of Acme GmbH has none", "account … has none"),
        ("https://acme.openai.azure.com/openai/x is gone", "… is gone"),
        ("Failed to load https://client.example/x.png", "Failed to load https://client.example/x.png"),
        (
            "The size 1024x1 is no size; user-defined names pass.",
            "The size 1024x1 is no size; user-defined names pass.",
        ),
    ],
)
def test_the_operators_account_is_not_named(said, shown) -> None:
    ended = failover.end_without_answer([error(ErrorKind.INVALID_REQUEST, said)], [], model="m")
    assert ended.error.message == shown
