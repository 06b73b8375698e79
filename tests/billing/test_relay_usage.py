"""What a general key learns of its usage, from the aggregates alone."""

from decimal import Decimal

import pytest

from billing import relay_usage, relayed_calls
from billing.models import RelayedCall
from common.token_usage import COUNTS
from tests.billing import relayed_steps as steps
from tests.rows import make_key

pytestmark = pytest.mark.django_db


def test_a_key_without_calls_has_used_nothing(key):
    assert relay_usage.of_key(key.id, key.account.pk) == {
        "object": "usage",
        "account": "tester",
        "balance": 10.0,
        "held": 0.0,
        "currency": "USD",
        "budgets": [],
        "total": {"calls": 0, "cost": 0.0},
        "by_day": [],
        "by_model": [],
    }


def test_settled_calls_are_summed_by_day_and_model(key, other_key, django_assert_num_queries):
    early = steps.opened(key)
    RelayedCall.objects.filter(id=early.call_id).update(created_at="2026-01-01T23:59:59Z")
    relayed_calls.end([steps.ending(early, 1_500_000)])
    today = steps.ended(key, 250_000).created_at.date().isoformat()
    steps.ended(key, 30, model="gpt-5-mini")
    steps.ended(key, None)
    steps.opened(key, 500_000)
    steps.ended(make_key(key.account, "second"), 1_000_000)
    steps.ended(other_key)
    with django_assert_num_queries(2):
        usage = relay_usage.of_key(key.id, key.account.pk)
    assert (usage["balance"], usage["held"], usage["total"]) == (7.24997, 0.5, {"calls": 3, "cost": 1.75003})
    assert usage["by_day"] == [
        {"date": today, "calls": 2, "cost": 0.25003},
        {"date": "2026-01-01", "calls": 1, "cost": 1.5},
    ]
    told = {"input_tokens": 100, "cached_tokens": 40, "output_tokens": 20, "reasoning_tokens": 5}
    tokens = dict.fromkeys(COUNTS, 0) | told
    assert usage["by_model"] == [
        {"model": "gpt-5", "calls": 2, **{name: 2 * count for name, count in tokens.items()}, "cost": 1.75},
        {"model": "gpt-5-mini", "calls": 1, **tokens, "cost": Decimal("0.00003")},
    ]
