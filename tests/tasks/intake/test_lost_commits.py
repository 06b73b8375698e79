"""A commit whose answer was lost: what was written is told as written, and its inputs are kept."""

from functools import partial

import pytest
from django.db import DEFAULT_DB_ALIAS, OperationalError, connection, connections

from tasks.intake import lost_commits, submission
from tasks.intake.lost_commits import OutcomeUnknown
from tasks.intake.submission import Created
from tasks.models import Task
from tests import lost_answers
from tests.account_lines import held_account
from tests.lost_answers import lose_the_answer, lose_the_commit
from tests.tasks import steps
from tests.tasks.intake.test_submission import files
from tests.tasks.request.param_requests import data_url

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="an embedded database gives every answer"),
]
WITH_IMAGE = {"prompt": "x", "images": [{"image_url": data_url()}]}


@pytest.fixture(autouse=True)
def no_doubts():
    lost_commits.doubtful.clear()


@pytest.fixture
def at_the_next_commit(monkeypatch):
    return partial(lost_answers.at_the_next_commit, monkeypatch)


def test_what_was_committed_is_created_and_keeps_its_inputs(key, image_model, folder, at_the_next_commit):
    draft = steps.drafted(key, params=WITH_IMAGE)
    at_the_next_commit(lose_the_answer)
    assert submission.submit_one(draft) == Created(task_id=draft.task_id, created_at=Task.objects.get().created_at)
    assert files(folder) == 1
    assert steps.breaches() == []


def test_what_was_committed_in_the_last_moment_is_created(key, image_model, at_the_next_commit):
    draft = steps.drafted(key)
    at_the_next_commit(lost_answers.answer_too_late)
    with lost_answers.little_time():
        created = submission.submit_one(draft)
    assert created == Created(task_id=draft.task_id, created_at=Task.objects.get().created_at)


def test_connections_that_nobody_uses_are_not_waited_for(key, image_model, at_the_next_commit, monkeypatch):
    draft, asked = steps.drafted(key), list[object]()
    monkeypatch.setattr("psycopg_pool.ConnectionPool.check", asked.append)
    at_the_next_commit(lose_the_answer)
    assert isinstance(submission.submit_one(draft), Created)
    assert asked == []


def test_what_was_not_committed_is_no_task_and_leaves_no_inputs(key, image_model, folder, at_the_next_commit):
    draft = steps.drafted(key, params=WITH_IMAGE)
    at_the_next_commit(lose_the_commit)
    with pytest.raises(OperationalError) as caught:
        submission.submit_one(draft)
    assert not isinstance(caught.value, OutcomeUnknown)
    assert (files(folder), Task.objects.count()) == (0, 0)


@pytest.mark.parametrize(("fate", "left"), [(lose_the_answer, 1), (lose_the_commit, 0)])
def test_nothing_is_deleted_until_the_database_can_tell(
    key, image_model, folder, at_the_next_commit, monkeypatch, fate, left
):
    draft = steps.drafted(key, params=WITH_IMAGE)
    at_the_next_commit(fate)

    def refused() -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as away:
        away.setattr(connections[DEFAULT_DB_ALIAS], "connect", refused)
        with pytest.raises(OutcomeUnknown):
            submission.submit_one(draft)
        lost_commits.settle()
    assert files(folder) == 1
    lost_commits.settle()
    assert (files(folder), Task.objects.count()) == (left, left)


def test_the_doubts_of_an_account_that_somebody_holds_hold_up_no_others(key, other_key, image_model, folder):
    for owner in (key, other_key):
        lost_commits.doubt(steps.drafted(owner, params=WITH_IMAGE))
    with held_account(key.account.pk):
        lost_commits.settle()
        assert files(folder) == 1
    lost_commits.settle()
    assert files(folder) == 0


def test_drafts_that_are_written_together_settle_earlier_doubts(key, image_model, folder):
    lost_commits.doubt(steps.drafted(key, params=WITH_IMAGE))
    written = submission.submit_free([steps.drafted(key)])
    assert [type(outcome) for outcome in written.values()] == [Created]
    assert (files(folder), len(lost_commits.doubtful)) == (0, 0)
