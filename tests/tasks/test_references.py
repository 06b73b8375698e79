"""References of rows that are written for each job: the database checks only those whose parents may go away."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import RequestFactory

from common import sql

pytestmark = pytest.mark.django_db

# To look a parent up and to lock it costs a row more than to write it.
KEPT = {
    "accounts_account",
    "accounts_apikey",
    "accounts_keysecret",
    "callbacks_delivery",
    "tasks_routeset",
    "tasks_task",
    "tasks_worker",
}
REFERENCES = """
SELECT conrelid::regclass::text, confrelid::regclass::text FROM pg_constraint
WHERE contype = 'f' AND split_part(conrelid::regclass::text, '_', 1) IN ('tasks', 'billing', 'callbacks')
"""
STAYING = {
    ("tasks_task", "tasks_task"),  # few tasks are retries
    ("billing_ledgerentry", "accounts_account"),  # so that a TRUNCATE of accounts meets the ledger's guards
}


@pytest.mark.skipif(not sql.is_postgresql(), reason="SQLite checks a reference in no time")
def test_postgresql_looks_up_no_parent_that_is_never_deleted():
    checked = set(sql.fetch(REFERENCES))
    assert checked >= {("tasks_task", "catalog_mediamodel"), ("tasks_call", "catalog_channel")}
    assert {parent for _, parent in checked - STAYING}.isdisjoint(KEPT)


@pytest.mark.parametrize("table", sorted(KEPT))
def test_nobody_may_delete_such_a_parent(table):
    (model,) = (each for each in apps.get_models() if each._meta.db_table == table)
    request = RequestFactory().get("/")
    request.user = User.objects.create_superuser("root")
    pages = [page for registered, page in admin.site._registry.items() if registered is model]
    assert not any(page.has_delete_permission(request) for page in pages)


@pytest.mark.skipif(sql.is_postgresql(), reason="PostgreSQL looks at some references only")
def test_sqlite_checks_every_reference():
    (enforced,) = sql.column("PRAGMA foreign_keys")
    assert enforced == 1
