"""What waits, by key: a probe for each, from where the last claim stopped."""

import secrets

import pytest
from django.db import connection

from catalog import snapshot
from common import sql
from tasks.claims import queue_state
from tasks.intake import submission
from tests.rows import make_account, make_key
from tests.tasks import steps

pytestmark = pytest.mark.django_db
EACH = 5


def wait_of(account, keys: int) -> list[int]:
    """So many keys, each with some queued tasks; their ids."""
    owners = [make_key(account, name=secrets.token_hex(8)) for _ in range(keys)]
    submission.submit([steps.drafted(owner) for owner in owners for _ in range(EACH)])
    return [owner.id for owner in owners]


@pytest.mark.parametrize("last", [0, 3, 5, 6])
def test_every_key_comes_once_those_after_the_last_one_first(image_model, last):
    keys = wait_of(make_account("acme", usd="1000", max_queued=1_000), 6)
    boundary = keys[last - 1] if last else 0
    sql.run("UPDATE tasks_claimturn SET last_key = %s", [boundary])
    found = queue_state.waiting(snapshot.latest())
    assert found.is_all
    assert [group.key_id for group in found.waiting] == keys[last:] + keys[:last]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts the steps of SQLite's machine")
@pytest.mark.parametrize("is_new_lap", [False, True])
def test_what_a_key_costs_does_not_grow_with_their_number(image_model, is_new_lap):
    account = make_account("acme", usd="1000", max_queued=10_000)

    def steps_of_all() -> int:
        sql.run("UPDATE tasks_claimturn SET last_key = %s", [2**62 if is_new_lap else 0])
        catalog, counted = snapshot.latest(), []
        connection.connection.set_progress_handler(lambda: counted.append(1), 10)
        try:
            queue_state.waiting(catalog)
        finally:
            connection.connection.set_progress_handler(None, 0)
        return len(counted)

    wait_of(account, 20)
    few = steps_of_all()
    wait_of(account, 60)
    assert steps_of_all() < 6 * few
