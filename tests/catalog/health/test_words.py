"""What the operator reads of channels that rest: why, for whom, since when, until when, by which evidence."""

import pytest

from accounts.models import Account
from adapters.base import ErrorKind
from catalog.health import words
from catalog.models import Channel, Credential
from tests.catalog.health.conftest import Clock
from tests.refusing import refuse
from tests.rows import make_account

pytestmark = pytest.mark.django_db


@pytest.fixture
def acme(db: None) -> Account:
    return make_account("acme")


def told(channel: Channel, clock: Clock) -> list[str]:
    channel.refresh_from_db()
    return [str(each) for each in words.of_channel(channel, clock.at)]


def test_a_channel_in_use_has_nothing_to_tell(studio: Channel, only: Credential, clock: Clock) -> None:
    refuse(only, ErrorKind.MODEL_UNAVAILABLE)
    assert told(studio, clock) == []


def test_a_model_that_rests_tells_for_whom_and_by_which_refusals(
    studio: Channel, only: Credential, acme: Account, clock: Clock
) -> None:
    for _ in range(2):
        refuse(only, ErrorKind.MODEL_UNAVAILABLE, account=acme.pk, task="task_1", code="model_not_found", words="No.")
    (said,) = told(studio, clock)
    assert said.startswith("model gpt-image-2 for account acme rests since 20")
    assert ", until 20" in said
    assert "the provider does not know the model" in said
    assert "2 refusals in a row, the last at 20" in said
    assert said.endswith(" of account acme, task task_1: model_unavailable model_not_found: No.")


def test_a_credential_that_rests_for_all_tells_both_kinds_of_cause(
    studio: Channel, only: Credential, acme: Account, clock: Clock
) -> None:
    refuse(only, ErrorKind.QUOTA_EXHAUSTED, account=acme.pk)
    refuse(only, ErrorKind.QUOTA_EXHAUSTED, account=acme.pk + 1)
    refuse(only, ErrorKind.RATE_LIMITED, retry_after=100.0)
    of_account, of_rate = sorted(told(studio, clock))
    assert of_account.startswith(f"credential {only} for every account rests since ")
    assert "has no credit or quota left; 2 refusals in a row" in of_account
    assert of_rate.startswith(f"credential {only} with model gpt-image-2 for every account rests since ")
    assert "the provider limits the rate" in of_rate


def test_a_channel_that_cools_down_and_a_credential_that_is_suspected_are_told(
    studio: Channel, only: Credential, clock: Clock
) -> None:
    refuse(only, ErrorKind.OVERLOADED, retry_after=100.0)
    refuse(only, ErrorKind.AUTH, http_status=401, words="Bad key.")
    (said,) = told(studio, clock)
    assert said.startswith("the channel rests since 20")
    assert said.endswith(": the provider was too busy; 1 time in a row")
    only.refresh_from_db()
    assert words.suspected(only).endswith("stays in use until a probe confirms it: auth 401: Bad key.")
