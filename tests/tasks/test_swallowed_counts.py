"""Counts of swallowed errors are added up in the database, or kept until it takes them."""

import logging

import pytest
from django.db import connection

from common import swallowed
from tasks import swallowed_counts
from tasks.models import SwallowedErrors

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def nothing_counted():
    swallowed.taken()
    yield
    swallowed.taken()


def test_counts_of_several_processes_add_up():
    for counts in ({"tests.one": 2}, {"tests.other": 1, "tests.one": 3}):
        swallowed.put_back(counts)
        swallowed_counts.flush()
    assert swallowed_counts.totals() == {"tests.one": 5, "tests.other": 1} | dict.fromkeys(swallowed.PLACES, 0)
    assert swallowed.taken() == {}


def test_where_nothing_is_counted_nothing_is_asked_of_the_database(django_assert_num_queries):
    with django_assert_num_queries(0):
        swallowed_counts.flush()


def test_a_listed_place_has_a_zero_from_the_start(monkeypatch):
    monkeypatch.setattr(swallowed, "PLACES", ("tests.never",))
    assert swallowed_counts.totals() == {"tests.never": 0}


def test_a_place_of_any_length_is_stored():
    swallowed.put_back({"x" * 300: 1})
    swallowed_counts.flush()
    assert swallowed_counts.totals()["x" * 100] == 1


def test_what_the_database_does_not_take_is_kept_and_said_once(caplog):
    swallowed.put_back({"tests.one": 2})
    with caplog.at_level(logging.WARNING), connection.schema_editor() as editor:
        editor.alter_db_table(SwallowedErrors, "tasks_swallowederrors", "elsewhere")
    try:
        with caplog.at_level(logging.WARNING):
            for _ in range(3):
                swallowed_counts.flush()
    finally:
        with connection.schema_editor() as editor:
            editor.alter_db_table(SwallowedErrors, "elsewhere", "tasks_swallowederrors")
    assert caplog.text.count("wait for the database") == 1
    swallowed_counts.flush()
    assert swallowed_counts.totals()["tests.one"] == 2
