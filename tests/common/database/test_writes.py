"""Several writes as one statement."""

import pytest
from django.db import connection

from accounts.models import Account
from common import sql
from common.database import writes
from tests.tasks import steps

pytestmark = pytest.mark.django_db

RAISE = "UPDATE accounts_account SET max_queued = r.most FROM {rows} WHERE accounts_account.id = r.id"
NAME = "UPDATE accounts_account SET name = r.name FROM {rows} WHERE accounts_account.id = r.id RETURNING max_queued"


def test_writes_are_one_statement_on_postgresql_and_the_last_one_returns(account):
    other = Account.objects.create(name="other", max_queued=5)
    raised = writes.of_rows(RAISE, "id bigint, most bigint", [{"id": account.pk, "most": 7}])
    named = writes.of_rows(NAME, "id bigint, name text", [{"id": other.pk, "name": "new"}])
    with steps.captured() as statements:
        assert writes.run([*raised, *named]) == [(5,)]
    assert len(statements) == (1 if connection.vendor == "postgresql" else 2)
    assert sql.value("SELECT max_queued FROM accounts_account WHERE id = %s", [account.pk]) == 7


def test_no_rows_are_no_write():
    assert writes.of_rows(RAISE, "id bigint, most bigint", []) == []
    assert writes.run([]) == []
