"""A fast path of the books that is broken: it is told and counted, and every call is served rightly."""

import logging
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import IntegrityError

from billing.models import RelayedCall
from common import sql, swallowed
from relay import books
from tests.billing import relayed_steps as steps
from tests.relay.test_books import call_of, needs_row_locks, outcomes, run, states

pytestmark = pytest.mark.django_db(transaction=True)
REFUSE_SEVERAL = """
CREATE FUNCTION refuse_several() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM changed) > 1 THEN RAISE EXCEPTION 'only one at a time'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER refuse_several AFTER UPDATE ON billing_relayedcall REFERENCING NEW TABLE AS changed
FOR EACH STATEMENT EXECUTE FUNCTION refuse_several()
"""


@pytest.fixture(autouse=True)
def nothing_counted() -> None:
    swallowed.taken()


@pytest.fixture
def ends_alone_only() -> Iterator[None]:
    """The database refuses statements that end several calls."""
    sql.run(REFUSE_SEVERAL)
    yield
    sql.run("DROP TRIGGER refuse_several ON billing_relayedcall; DROP FUNCTION refuse_several()")


def test_a_group_that_cannot_be_reserved_together_is_noticed(key, other_key, caplog):
    good = [call_of(key), call_of(other_key)]
    bad = replace(call_of(key), estimated_micros=-1)  # no hold is negative
    found = run(outcomes(*[books.reserve(call) for call in (*good, bad)]))
    assert isinstance(found.pop(), IntegrityError)
    assert (found, states().keys()) == ([None] * 2, {call.call_id for call in good})
    assert swallowed.taken()["relay.books.reserve_together"] == 1
    assert "swallowed in relay.books.reserve_together" in caplog.text


@needs_row_locks
def test_a_group_that_cannot_be_ended_together_is_noticed(key, other_key, ends_alone_only, caplog):
    calls = [call_of(key), call_of(other_key)]
    run(outcomes(*[books.reserve(call) for call in calls]))
    assert run(outcomes(*[books.end(steps.ending(call)) for call in calls])) == [True, True]
    assert set(RelayedCall.objects.values_list("state", "actual_micros")) == {("settled", 150)}
    assert swallowed.taken()["relay.books.end_together"] == 1
    (record,) = (each for each in caplog.records if "relay.books.end_together" in each.message)
    assert record.levelno == logging.ERROR
    assert "only one at a time" in caplog.text


def test_books_that_are_right_count_nothing(key):
    call = call_of(key)
    run(books.reserve(call))
    assert run(books.end(steps.ending(call))) is True
    assert swallowed.taken() == {}
