"""What the fixtures of all tests promise."""

import socket
from pathlib import Path

import pytest
from django.conf import settings
from django.db import Error, connection, transaction

from accounts.models import Account
from billing.models import LedgerEntry
from catalog.models import CatalogVersion, MediaModel
from common import sql
from tasks.models import ClaimTurn, ServiceState
from tests import emptying, io_guard
from tests.rows import make_account


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def breaches() -> list[str]:
    """Taken out, so that the guard does not fail this test."""
    found = list(io_guard.breaches)
    io_guard.breaches.clear()
    return found


def test_a_connection_inside_a_transaction_is_noticed(db, listener):
    with transaction.atomic(), socket.create_connection(listener):
        pass
    assert any("socket.connect inside a transaction" in breach for breach in breaches())


def test_a_storage_write_inside_a_transaction_is_noticed(transactional_db):
    folder = Path(settings.ASSET_STORAGE.removeprefix("file://"))
    folder.mkdir(exist_ok=True)
    with transaction.atomic():
        (folder / "asset").write_bytes(b"picture")
    assert any("open inside a transaction" in breach for breach in breaches())


def test_io_outside_of_a_transaction_is_fine(db, listener):
    with transaction.atomic():
        Account.objects.count()
    with socket.create_connection(listener):
        pass
    assert breaches() == []


@pytest.mark.parametrize("round_number", [1, 2])
def test_a_transactional_test_starts_with_the_fixed_rows_and_nothing_else(transactional_db, round_number):
    make_account("left over for the next round")
    fixed = (CatalogVersion, ServiceState, ClaimTurn)
    assert [list(model.objects.values_list("id", flat=True)) for model in fixed] == [[1], [1], [1]]
    assert Account.objects.count() == 1


@pytest.mark.parametrize("round_number", [1, 2])
def test_the_ledger_refuses_deletes_in_every_transactional_test(transactional_db, round_number):
    make_account("payer")
    with pytest.raises(Error, match="append-only"):
        sql.run("DELETE FROM billing_ledgerentry")
    assert LedgerEntry.objects.count() == 2


@pytest.mark.parametrize("largest", [0, emptying.LARGE])
def test_emptying_leaves_what_migrations_wrote_and_nothing_else(transactional_db, monkeypatch, largest):
    monkeypatch.setattr(emptying, "LARGE", largest)
    make_account("payer")
    emptying.empty()
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
    filled = {table for table in tables if sql.fetch(f"SELECT 1 FROM {table} LIMIT 1")}
    assert filled == emptying.KEPT | {model._meta.db_table for model in emptying.FIXED}


def test_the_sqlite_database_is_a_file_in_wal_mode(db):
    if connection.vendor == "sqlite":
        assert sql.fetch("PRAGMA journal_mode") == [("wal",)]
    assert "memory" not in str(connection.settings_dict["NAME"])


def test_the_rows_of_the_catalog_stand(image_model, video_model, key):
    assert MediaModel.objects.filter(routes__enabled=True).count() == 2
    assert key.account.balance_micros == 10_000_000
    assert key.secret.startswith("dr-task-")
