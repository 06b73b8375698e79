"""Drafts of many requests together: each gets what it would have got alone, and nobody waits for another's account."""

import dataclasses
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, connection

from accounts.models import Account
from billing import budgets
from common import sql, swallowed
from common.database import time_limits, writes
from tasks.assets.stored_inputs import LARGE_BYTES
from tasks.intake import submission
from tasks.intake.submission import Created, Outcome
from tasks.models import Task
from tests.account_lines import gathered, held_account
from tests.databases import database_url
from tests.rows import make_account, make_key
from tests.tasks import steps
from tests.tasks.intake.test_submission import files
from tests.tasks.request.param_requests import data_url
from tests.time_limits import limited
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
needs_row_locks = pytest.mark.skipif(connection.vendor != "postgresql", reason="one lock for everything")
WITH_IMAGE = {"prompt": "x", "images": [{"image_url": data_url()}]}
LARGE = {"prompt": "x", "extra_body": {"style": "x" * LARGE_BYTES}}


@pytest.fixture(autouse=True)
def no_limit_of_time(monkeypatch):
    monkeypatch.setattr(time_limits, "GROUP_LOCK_SECONDS", PATIENCE)


def together(drafts) -> list[Outcome | BaseException]:
    with gathered(submission._thread):
        promises = [submission.add(draft) for draft in drafts]
    return [promise.exception(PATIENCE) or promise.result() for promise in promises]


def names(outcomes) -> list[str]:
    return [type(outcome).__name__ for outcome in outcomes]


def counted() -> None:
    """All accounts are known to have no live task, and so need no look at their tasks."""
    Account.objects.update(live_at_most=0)


def waiting() -> int:
    """How many sessions wait for a lock."""
    return int(
        sql.value(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
    )


def test_a_group_is_one_transaction(key, other_key, image_model):
    drafts = [steps.drafted(owner) for owner in (key, other_key, key)]
    counted()
    assert names(together(drafts)) == ["Created"] * 3
    written = sql.column("SELECT count(DISTINCT created_at) FROM tasks_task")
    assert written == [1]
    assert steps.breaches() == []


def test_one_idempotency_key_twice_in_a_group_is_one_task_and_a_replay(key, image_model):
    drafts = [steps.drafted(key, idempotency_key="order-1") for _ in range(2)]
    created, replay = together(drafts)
    assert (names([created, replay]), replay.task_id) == (["Created", "Replay"], created.task_id)


def test_a_repeated_idempotency_key_holds_up_no_other_account(key, other_key, image_model):
    drafts = [steps.drafted(key, idempotency_key="order-1"), steps.drafted(other_key), steps.drafted(other_key)]
    first = steps.submitted(key, idempotency_key="order-1")
    swallowed.taken()
    replay, *created = together(drafts)
    assert (names(created), replay.task_id) == (["Created"] * 2, first)
    assert len({outcome.created_at for outcome in created}) == 1
    assert swallowed.taken() == {}


def test_what_one_account_cannot_pay_takes_nothing_from_another(other_key, image_model):
    poor = make_key(make_account("poor", usd="0.05"))
    outcomes = together([steps.drafted(owner) for owner in (poor, poor, other_key)])
    assert names(outcomes) == ["Created", "InsufficientBalance", "Created"]
    assert steps.breaches() == []


def test_accounts_with_callbacks_and_budgets_are_written_together_with_others(key, other_key, image_model):
    budgets.set_limits(key.account, day_micros=50_000, month_micros=None)
    hook = {"callback_url": "https://hooks.example.com/"}
    drafts = [steps.drafted(key), steps.drafted(key), steps.drafted(other_key, **hook)]
    outcomes = together(drafts)
    assert names(outcomes) == ["Created", "InsufficientBalance", "Created"]
    assert outcomes[0].created_at == outcomes[2].created_at
    assert steps.breaches() == []


def test_a_group_keeps_to_the_queue_limit_and_the_balance(image_model):
    account = make_account("poor", usd="0.2", max_queued=4)
    key, small = make_key(account), make_key(account, "small", max_queued=2)
    drafts = [steps.drafted(owner) for owner in (small, small, small, key, key, key)]
    assert Counter(names(together(drafts))) == {"Created": 4, "QueueLimitExceeded": 2}
    assert steps.breaches() == []


def test_a_draft_that_cannot_be_written_fails_alone(key, other_key, image_model):
    good = [steps.drafted(owner) for owner in (key, other_key, key, key)]
    bad = steps.unwritable(good[0])
    outcomes = together([good[0], bad, *good[1:]])
    assert isinstance(outcomes.pop(1), IntegrityError)
    assert names(outcomes) == ["Created"] * 4
    assert steps.breaches() == []


def test_what_keeps_a_group_from_being_written_is_logged_and_counted(key, other_key, image_model, caplog):
    swallowed.taken()
    good = steps.drafted(key)
    outcomes = together([good, steps.unwritable(steps.drafted(other_key))])
    assert names(outcomes) == ["Created", "IntegrityError"]
    assert swallowed.taken() == {"tasks.intake.submission": 1}
    assert "IntegrityError" in caplog.text


@contextmanager
def altered(change: str, back: str) -> Iterator[None]:
    """The database is another one than the code knows."""
    sql.run(change)
    try:
        yield
    finally:
        sql.run(back)


ONE_AT_A_TIME = """
CREATE FUNCTION refuse_several() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF (SELECT count(*) FROM changed) > 1 THEN RAISE EXCEPTION 'only one account at a time'; END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER one_at_a_time AFTER UPDATE ON accounts_account REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_several()
"""


@needs_row_locks
def test_a_joint_write_that_always_fails_is_noticed_although_each_account_alone_is_served(
    key, other_key, image_model, caplog
):
    drafts = [steps.drafted(owner) for owner in (key, other_key)]
    counted()
    swallowed.taken()
    with altered(ONE_AT_A_TIME, "DROP FUNCTION refuse_several CASCADE"):
        assert names(together(drafts)) == ["Created"] * 2
    assert swallowed.taken() == {"tasks.intake.submission": 1}
    assert "only one account at a time" in caplog.text
    assert steps.breaches() == []


@needs_row_locks
def test_a_column_that_the_database_does_not_have_is_noticed(key, other_key, image_model, caplog):
    drafts = [steps.drafted(owner) for owner in (key, other_key)]
    swallowed.taken()
    renaming = "ALTER TABLE tasks_task RENAME COLUMN {} TO {}"
    with altered(renaming.format("input_bytes", "bytes"), renaming.format("bytes", "input_bytes")):
        assert names(together(drafts)) == ["ProgrammingError"] * 2
    assert swallowed.taken() == {"tasks.intake.submission": 1}
    assert 'column "input_bytes"' in caplog.text
    assert Task.objects.count() == 0


def test_a_database_that_goes_away_between_the_parts_of_a_line_takes_back_no_task(key, image_model, monkeypatch):
    good, late = (steps.drafted(key) for _ in range(2))
    bad = steps.unwritable(good)

    def submit(drafts, **how):
        if drafts == [late]:
            raise OperationalError("the database is away")
        return submission_submit(drafts, **how)

    submission_submit = submission.submit
    monkeypatch.setattr(submission, "submit", submit)
    assert names(submission._submit_own([good, bad, late])) == ["Created", "IntegrityError", "OperationalError"]
    assert Task.objects.count() == 1


def test_what_cannot_be_written_leaves_no_inputs(key, image_model, folder):
    draft = steps.drafted(key, params=WITH_IMAGE)
    together([steps.unwritable(draft)])
    wait_until(lambda: not files(folder))


def test_what_is_taken_back_before_its_turn_is_no_task_and_leaves_no_inputs(key, image_model, folder):
    draft = steps.drafted(key, params=WITH_IMAGE)
    with gathered(submission._thread):
        promise = submission.add(draft)
        assert promise.cancel()
    wait_until(lambda: not files(folder))
    assert names(together([steps.drafted(key)])) == ["Created"]
    assert Task.objects.count() == 1


def test_large_options_are_written_alone(key, other_key, image_model, monkeypatch):
    groups, write = list[list[str]](), writes.write_together

    def seen(columns, items, *others, **options):
        groups.append(items)
        return write(columns, items, *others, **options)

    monkeypatch.setattr(writes, "write_together", seen)
    counted()
    large = [steps.drafted(key, params=LARGE) for _ in range(2)]
    small = [steps.drafted(owner) for owner in (key, other_key)]
    assert names(together([*large, *small])) == ["Created"] * 4
    assert sum(map(len, groups)) == 4
    assert [len(group) for group in groups if any("x" * LARGE_BYTES in item for item in group)] == [1, 1]


@needs_row_locks
def test_nobody_waits_for_an_account_that_somebody_else_holds(key, other_key, image_model):
    with held_account(key.account.pk):
        stuck, free = [submission.add(steps.drafted(owner)) for owner in (key, other_key)]
        assert isinstance(free.result(PATIENCE), Created)
        wait_until(lambda: waiting() == 1)
        again = submission.add(steps.drafted(key))
        assert isinstance(submission.add(steps.drafted(other_key)).result(PATIENCE), Created)
        assert not stuck.done()
        assert not again.done()
    assert names([stuck.result(PATIENCE), again.result(PATIENCE)]) == ["Created"] * 2
    assert steps.breaches() == []


@needs_row_locks
def test_what_comes_while_its_account_is_waited_for_is_written_with_the_first(key, image_model):
    with held_account(key.account.pk):
        first = submission.add(steps.drafted(key))
        wait_until(lambda: waiting() == 1)
        later = [submission.add(steps.drafted(key)) for _ in range(3)]
        assert not any(promise.done() for promise in (first, *later))
    assert names(promise.result(PATIENCE) for promise in (first, *later)) == ["Created"] * 4
    assert sql.column("SELECT count(DISTINCT created_at) FROM tasks_task") == [1]
    assert steps.breaches() == []


@needs_row_locks
def test_an_account_that_is_held_for_too_long_fails_its_own_requests(key, other_key, image_model):
    with limited(lock=0.1), held_account(key.account.pk):
        stuck, free = [submission.add(steps.drafted(owner)) for owner in (key, other_key)]
        assert names([stuck.exception(PATIENCE), free.result(PATIENCE)]) == ["OperationalError", "Created"]
    assert Task.objects.count() == 1


@needs_row_locks
def test_a_draft_that_has_waited_in_line_waits_that_much_shorter_for_its_account(key, image_model):
    drafts = [steps.drafted(key), dataclasses.replace(steps.drafted(key), made_at=time.monotonic() - 8)]
    bounds = []
    with limited(lock=10.0):
        for draft in drafts:
            with steps.captured() as statements:
                assert isinstance(submission.submit([draft])[0], Created)
            bounds.append([each for each in statements if "lock_timeout" in each])
    assert [len(each) for each in bounds] == [0, 1]


@needs_row_locks
def test_a_lock_that_a_group_meets_later_holds_up_only_whose_it_is(
    key, other_key, image_model, video_model, monkeypatch
):
    monkeypatch.setattr(time_limits, "GROUP_LOCK_SECONDS", 0.1)
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT 1 FROM catalog_mediamodel WHERE id = %s FOR UPDATE", [video_model.pk])
        film, picture = steps.drafted(key, steps.VIDEO), steps.drafted(other_key)
        with gathered(submission._thread):
            stuck, free = [submission.add(draft) for draft in (film, picture)]
        assert isinstance(free.result(PATIENCE), Created)
        assert not stuck.done()
        other.rollback()
    assert isinstance(stuck.result(PATIENCE), Created)
