"""The fast path of submissions: one statement writes what surely may be written, and leaves out all else."""

from collections import Counter
from dataclasses import replace
from functools import partial

import pytest
from django.db import DEFAULT_DB_ALIAS, IntegrityError, OperationalError, connection, connections

from accounts.models import Account
from billing import budgets
from tasks.intake import fast_submission, joint_submission, submission
from tasks.intake.drafts import Draft
from tasks.intake.lost_commits import OutcomeUnknown
from tasks.intake.submission import Created
from tasks.models import Task
from tests import lost_answers
from tests.account_lines import gathered, held_account
from tests.rows import make_account, make_key
from tests.tasks import steps
from tools.children import PATIENCE

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "postgresql", reason="it takes several statements there"),
]
HOOK = {"callback_url": "https://hooks.example.com/"}


def counted(live: int | None = 0, **names: object) -> None:
    """So many live tasks have these accounts at most, as far as their rows say."""
    Account.objects.filter(**names).update(live_at_most=live)


def written(*drafts: Draft) -> list[bool]:
    found = fast_submission.submit(drafts)
    return [draft.task_id in found for draft in drafts]


def together(drafts: list[Draft]) -> list[str]:
    with gathered(joint_submission._thread):
        promises = [joint_submission.add(draft) for draft in drafts]
    return [type(promise.exception(PATIENCE) or promise.result()).__name__ for promise in promises]


def test_a_group_is_one_statement(key, other_key, image_model):
    drafts = [steps.drafted(owner, idempotency_key="order") for owner in (key, other_key)]
    counted()
    with steps.captured() as statements:
        found = fast_submission.submit(drafts)
    assert len(statements) == 1
    moments = dict(Task.objects.values_list("id", "created_at"))
    assert found == {d.task_id: Created(task_id=d.task_id, created_at=moments[d.task_id]) for d in drafts}
    assert steps.breaches() == []


def test_it_writes_what_the_long_way_writes(key, image_model):
    drafts = [steps.drafted(key, idempotency_key=f"order-{n}", metadata={"n": 1}) for n in range(2)]
    counted()
    assert written(drafts[0]) == [True]
    assert isinstance(submission.submit_one(drafts[1]), Created)
    own = {"id", "created_at", "deadline_at", "idempotency_key"}
    fast, slow = [
        {name: value for name, value in row.items() if name not in own} for row in Task.objects.order_by("id").values()
    ]
    assert fast == slow
    assert steps.breaches() == []


def test_an_account_that_somebody_holds_is_left_out(key, other_key, image_model):
    drafts = [steps.drafted(owner) for owner in (key, other_key)]
    counted()
    with held_account(key.account.pk):
        assert written(*drafts) == [False, True]
    assert written(drafts[0]) == [True]


def test_what_an_account_cannot_pay_is_left_out_whole(other_key, image_model):
    poor = make_key(make_account("poor", usd="0.05"))
    drafts = [steps.drafted(owner) for owner in (poor, poor, other_key)]
    counted()
    assert written(*drafts) == [False, False, True]
    assert written(drafts[0]) == [True]
    assert steps.breaches() == []


def test_a_balance_below_zero_buys_not_even_what_is_free(key, image_model):
    draft = steps.drafted(key)
    free = steps.priced(draft, replace(draft.prepared.price, unit_micros=0))
    counted()
    Account.objects.filter(id=key.account.pk).update(balance_micros=-1)
    assert written(free) == [False]


@pytest.mark.parametrize(
    ("of_account", "of_key", "live", "expected"),
    [(5, 9, 3, True), (5, 9, 4, False), (9, 5, 3, True), (9, 5, 4, False), (9, 9, None, False)],
)
def test_near_a_limit_nothing_is_written_uncounted(image_model, of_account, of_key, live, expected):
    key = make_key(make_account("small", max_queued=of_account), max_queued=of_key)
    drafts = [steps.drafted(key) for _ in range(2)]
    counted(live)
    assert written(*drafts) == [expected] * 2


def test_the_least_limit_of_an_accounts_keys_counts(image_model):
    account = make_account("two keys")
    keys = [make_key(account), make_key(account, "small", max_queued=1)]
    drafts = [steps.drafted(owner) for owner in keys]
    counted()
    assert written(*drafts) == [False, False]
    assert written(drafts[0]) == [True]


def test_budgets_are_left_to_those_who_add_them_up(key, other_key, image_model):
    budgets.set_limits(key.account, day_micros=1_000_000, month_micros=None)
    drafts = [steps.drafted(owner) for owner in (key, other_key)]
    counted()
    assert written(*drafts) == [False, True]
    assert together([drafts[0]]) == ["Created"]
    assert steps.breaches() == []


def test_accounts_that_have_to_be_asked_more_go_the_long_way_together(key, other_key, image_model):
    for owner in (key, other_key):
        budgets.set_limits(owner.account, day_micros=1_000_000, month_micros=None)
    assert together([steps.drafted(owner) for owner in (key, other_key, key)]) == ["Created"] * 3
    assert len(set(Task.objects.values_list("created_at", flat=True))) == 1
    assert steps.breaches() == []


def test_a_key_that_was_used_since_its_admission_is_left_out(key, image_model):
    drafts = [steps.drafted(key, idempotency_key="order-1") for _ in range(2)] + [steps.drafted(key)]
    counted()
    assert written(drafts[0]) == [True]
    assert written(*drafts[1:]) == [False, True]
    assert together([drafts[1]]) == ["Replay"]
    assert Task.objects.count() == 2


def test_one_key_twice_fails_all_and_is_never_given_to_it(key, other_key, image_model):
    drafts = [steps.drafted(owner, idempotency_key="order-1") for owner in (key, key, other_key)]
    counted()
    with pytest.raises(IntegrityError):
        fast_submission.submit(drafts)
    assert Task.objects.count() == 0
    assert together(drafts) == ["Created", "Replay", "Created"]
    assert steps.breaches() == []


def test_what_its_row_does_not_say_of_an_account_is_asked_for_the_long_way(key, other_key, image_model):
    drafts = [steps.drafted(key, **HOOK), steps.drafted(other_key), steps.drafted(key)]
    counted()
    assert [fast_submission.is_for(draft) for draft in drafts] == [False, True, True]
    assert together(drafts) == ["Created"] * 3
    assert steps.breaches() == []


def test_what_fails_beside_it_takes_back_nothing_of_it(key, other_key, image_model):
    drafts = [steps.drafted(key), steps.unwritable(steps.drafted(other_key, **HOOK))]
    counted()
    assert together(drafts) == ["Created", "IntegrityError"]
    assert Task.objects.count() == 1
    assert steps.breaches() == []


def test_limits_are_strict_beside_the_long_way(image_model):
    keys = [make_key(make_account("eager", usd="0.4")), make_key(make_account("busy", max_queued=9))]
    drafts = [[steps.drafted(key) for _ in range(4)] for key in keys for _ in range(8)]
    counted()
    steps.at_once(
        [partial((fast_submission.submit, submission.submit)[n % 2], group) for n, group in enumerate(drafts)]
    )
    made = Counter(Task.objects.values_list("account_id", flat=True))
    assert made[keys[0].account.pk] <= 10
    assert made[keys[1].account.pk] <= 9
    assert steps.breaches() == []


def lose_the_session(execute, *arguments):
    """The server ends the session before the statement reaches it."""
    lost_answers.end_session()
    return execute(*arguments)


def lose_the_answer(execute, *arguments):
    execute(*arguments)
    lost_answers.end_session()
    with connection.wrap_database_errors:
        connection.connection.execute("SELECT 1")


def test_a_task_whose_answer_was_lost_is_told_as_created(key, other_key, image_model):
    drafts = [steps.drafted(owner) for owner in (key, other_key)]
    counted()
    counted(None, id=other_key.account.pk)
    with connection.execute_wrapper(once(lose_the_answer)):
        assert written(*drafts) == [True, False]
    assert steps.breaches() == []


def answer_too_late(execute, *arguments):
    execute(*arguments)
    lost_answers.fall_silent()


def test_a_task_whose_answer_took_all_the_time_is_told_as_created(key, image_model, monkeypatch):
    draft = steps.drafted(key)
    counted()
    with lost_answers.little_time(monkeypatch), connection.execute_wrapper(once(answer_too_late)):
        assert written(draft) == [True]
    assert steps.breaches() == []


def test_a_statement_that_got_lost_is_not_repeated(key, image_model):
    draft = steps.drafted(key)
    counted()
    with connection.execute_wrapper(once(lose_the_session)), pytest.raises(OutcomeUnknown):
        fast_submission.submit([draft])
    assert Task.objects.count() == 0


def test_nothing_was_sent_where_no_connection_is_to_be_had(key, image_model, monkeypatch):
    draft = steps.drafted(key)
    connection.close()

    def refused() -> None:
        raise OperationalError("connection refused")

    with monkeypatch.context() as away:
        away.setattr(connections[DEFAULT_DB_ALIAS], "connect", refused)
        with pytest.raises(OperationalError) as caught:
            fast_submission.submit([draft])
    assert not isinstance(caught.value, OutcomeUnknown)


def once(fate):
    """An execute wrapper that meets the first statement with this."""
    fates = iter([fate])
    return lambda execute, *arguments: next(fates, lambda execute, *rest: execute(*rest))(execute, *arguments)
