"""Seals: what they cover, that they are chained, and that check_ledger names what was changed below them."""

import hashlib
import io
import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from billing import ledger, ledger_triggers, seals
from billing.models import LedgerEntry, LedgerHead, LedgerSeal
from common import sql
from tasks import ledger_check
from tests.tasks import steps
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def concurrent(db):
    """For what only happens where transactions are open at the same time."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite's writers take turns")


def book(account, *references: str) -> None:
    for reference in references:
        ledger.credit(account.pk, 5, reference=reference, reason="Überweisung „7“")


@pytest.fixture
def chain(account):
    """Three seals: the account's first credit, two more, one more."""
    seals.seal()
    book(account, "wire-1", "wire-2")
    seals.seal()
    book(account, "wire-3")
    seals.seal()
    return LedgerSeal.objects.order_by("number")


@contextmanager
def unguarded() -> Iterator[None]:
    """Whoever owns the database may drop the guards, and make them again."""
    with connection.schema_editor() as editor:
        ledger_triggers.remove(editor)
    try:
        yield
    finally:
        with connection.schema_editor() as editor:
            ledger_triggers.install(editor)


def broken() -> dict[str, str]:
    found = [breach for breach in ledger_check.check().breaches if breach.rule == ledger_check.SEALED]
    return {breach.subject: breach.detail for breach in found}


def test_a_seal_is_what_an_auditor_computes(chain):
    before, after_id = "0" * 64, 0
    for seal in chain:
        digest = hashlib.sha256(f"{before}\n".encode())
        entries = LedgerEntry.objects.filter(id__gt=after_id, id__lte=seal.last_entry_id).order_by("id")
        for row in entries:
            at = row.at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            values = [row.id, row.reference, row.kind, row.book, row.account_id, row.amount_micros, row.reason, at]
            digest.update(json.dumps(values, separators=(",", ":")).encode() + b"\n")
        assert (seal.sha256, seal.entries) == (digest.hexdigest(), len(entries))
        before, after_id = seal.sha256, seal.last_entry_id
    assert after_id == LedgerEntry.objects.order_by("id").last().id


def test_pages_do_not_change_a_seal(account, chain, monkeypatch):
    monkeypatch.setattr(seals, "PAGE", 1)
    assert broken() == {}


def test_with_nothing_new_nothing_is_written(chain):
    assert seals.seal() == seals.Sealed()
    assert chain.count() == 3


def test_an_empty_ledger_is_not_sealed(db):
    assert seals.seal() == seals.Sealed()
    assert (LedgerSeal.objects.count(), LedgerHead.objects.count()) == (0, 0)


def test_sealed_books_are_right(chain):
    report = ledger_check.check()
    assert (report.breaches, report.seals) == ((), 3)


def of_second(chain) -> str:
    return f"entries {chain[0].last_entry_id + 1} to {chain[1].last_entry_id}"


def test_a_changed_entry_is_named(chain):
    with unguarded():
        LedgerEntry.objects.filter(reference="wire-1", book="customer").update(reason="another")
    detail = f"{of_second(chain)} are not as they were sealed: an entry, this seal or the one before was changed"
    assert broken() == {"seal 2": detail}


def test_a_removed_entry_is_named(chain):
    with unguarded():
        LedgerEntry.objects.filter(reference="wire-1").delete()
    assert broken() == {"seal 2": f"{of_second(chain)}: 2 are there and 4 were sealed: some were removed"}


def test_an_entry_in_the_place_of_another_is_named(account, chain):
    entry = LedgerEntry.objects.get(reference="wire-1", book="funding")
    with unguarded():
        LedgerEntry.objects.filter(pk=entry.pk).delete()
    LedgerEntry.objects.create(id=entry.pk, reference="n", kind="credit", book="funding", amount_micros=-5)
    assert set(broken()) == {"seal 2"}


def test_an_entry_between_the_sealed_ones_is_named(account):
    LedgerEntry.objects.create(id=9_000_000, reference="n", kind="charge", book="revenue", amount_micros=1)
    seals.seal()
    LedgerEntry.objects.create(id=8_000_000, reference="m", kind="charge", book="revenue", amount_micros=1)
    assert "some were inserted" in broken()["seal 1"]


def test_a_removed_seal_is_named(chain):
    with unguarded():
        LedgerSeal.objects.filter(number=2).delete()
    assert broken()["seal 2"] == "is missing before seal 3"


def test_the_last_seal_cannot_be_removed_unseen(chain):
    with unguarded():
        LedgerSeal.objects.filter(number=3).delete()
    assert broken() == {"seal 3": "is missing: the last one that is there is 2"}


def test_a_changed_seal_is_named(chain):
    with unguarded():
        LedgerSeal.objects.filter(number=2).update(sha256="f" * 64)
    assert set(broken()) == {"seal 2", "seal 3"}


def test_an_entry_whose_elder_may_still_be_committed_is_not_sealed(account, concurrent):
    with booking(account, "slow") as commit:
        book_beside("quick")
        assert seals.seal(wait_seconds=0.1).held_up
        assert not LedgerSeal.objects.exists()
        commit()
    assert seals.seal().entries == 4
    assert broken() == {}


def test_a_seal_waits_for_who_may_still_commit_an_elder_entry(account, concurrent):
    with ThreadPoolExecutor(1) as threads, booking(account, "slow") as commit:
        book_beside("quick")
        sealing = threads.submit(partial(steps.at_once, [partial(seals.seal, wait_seconds=PATIENCE)]))
        commit()
        (made,) = sealing.result(PATIENCE)
    assert made.entries == 4
    assert broken() == {}


def book_beside(reference: str) -> None:
    LedgerEntry.objects.create(reference=reference, kind="credit", book="funding", amount_micros=5)


@contextmanager
def booking(account, reference: str) -> Iterator[Callable[[], None]]:
    """An entry of a transaction on another connection, which commits when the value is called."""
    may_end, is_written = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                book_beside(reference)
                is_written.set()
                may_end.wait(PATIENCE)
        finally:
            connection.close()

    thread = threading.Thread(target=run)

    def commit() -> None:
        may_end.set()
        thread.join()

    thread.start()
    try:
        assert is_written.wait(PATIENCE)
        yield commit
    finally:
        commit()


def test_of_many_sealers_one_seals(account):
    made = steps.at_once([seals.seal] * 4)
    assert sorted(each.number or 0 for each in made) == [0, 0, 0, 1]
    assert broken() == {}


def test_the_janitor_seals_once_a_day(account):
    assert seals.seal_daily().number == 1
    book(account, "wire-1")
    assert seals.seal_daily().number is None
    with unguarded():
        sql.run(f"UPDATE billing_ledgerseal SET at = {sql.later('-86401')}")
    assert seals.seal_daily().number == 2


def answer() -> dict[str, object]:
    output = io.StringIO()
    call_command("seal_ledger", "--json", stdout=output)
    return json.loads(output.getvalue())


def test_the_command_tells_the_last_seal(account):
    first = answer()
    assert (first["sealed"], first["entries"], first["seal"]) == (True, 2, 1)
    assert first["sha256"] == LedgerSeal.objects.get().sha256
    assert answer() == first | {"sealed": False, "entries": 0}


def test_the_command_says_when_it_is_held_up(account, concurrent, monkeypatch):
    monkeypatch.setattr(seals.seal, "__kwdefaults__", {"wait_seconds": 0.1})
    with booking(account, "slow"):
        book_beside("quick")
        with pytest.raises(CommandError, match="does not end"):
            call_command("seal_ledger")


def test_check_ledger_tells_the_seals(chain):
    output = io.StringIO()
    call_command("check_ledger", "--json", stdout=output)
    assert json.loads(output.getvalue())["seals"] == 3
