"""The migration that tells holds their key, forwards and backwards, with rows present."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from billing.models import Hold
from tests.billing import relayed_steps
from tests.billing.budget_steps import limit, used
from tests.tasks import steps

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = ("billing", "0008_refund")


def migrate(*targets: tuple[str, str]) -> None:
    MigrationExecutor(connection).migrate([*targets])


def test_holds_that_a_budget_of_today_may_count_are_told_their_key(key, image_model):
    task_id, settled = steps.submitted(key), relayed_steps.ended(key, 30)
    old, old_and_open = relayed_steps.ended(key, 500), relayed_steps.opened(key)
    long_ago = datetime(2020, 1, 31, tzinfo=UTC)
    Hold.objects.filter(reference__in=[old.id, old_and_open.call_id]).update(created_at=long_ago)
    migrate(BEFORE)
    try:
        assert "key_id" not in [
            column.name
            for column in connection.introspection.get_table_description(connection.cursor(), "billing_hold")
        ]
    finally:
        migrate(*MigrationExecutor(connection).loader.graph.leaf_nodes())
    expected = {task_id: key.id, settled.id: key.id, old.id: None, old_and_open.call_id: key.id}
    assert dict(Hold.objects.values_list("reference", "key_id")) == expected
    limit(key.record, month="1")
    assert used(key) == {"key month": 40_030}
    assert steps.breaches() == []
