"""References of rows that are written for each job: the database checks only those whose parents may go away."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import RequestFactory

from common import sql

pytestmark = pytest.mark.django_db

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


@pytest.mark.skipif(not sql.is_postgresql(), reason="SQLite checks every reference")
def test_postgresql_looks_up_no_parent_that_is_never_deleted():
    checked = set(sql.fetch(REFERENCES))
    assert checked >= {("tasks_task", "catalog_mediamodel"), ("tasks_call", "catalog_channel")}
    assert {parent for _, parent in checked - STAYING}.isdisjoint(KEPT)


def test_nobody_may_delete_such_a_parent():
    request = RequestFactory().get("/")
    request.user = User.objects.create_superuser("root")
    offered = {
        model._meta.db_table for model, page in admin.site._registry.items() if page.has_delete_permission(request)
    }
    assert "catalog_channel" in offered
    assert offered.isdisjoint(KEPT)


@pytest.mark.skipif(sql.is_postgresql(), reason="PostgreSQL looks at some references only")
def test_sqlite_checks_every_reference():
    (enforced,) = sql.column("PRAGMA foreign_keys")
    assert enforced == 1
