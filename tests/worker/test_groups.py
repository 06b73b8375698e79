"""Steps that many tasks take together."""

import threading

import pytest

from billing.ledger import UnbalancedHold
from billing.models import Hold
from common.database.database_retry import apart
from tasks.lifecycle import Ending
from tests.tasks import steps
from tests.threads import joined
from tests.worker.driving import beside, picture, task
from tools.children import PATIENCE, wait_until
from worker.buy import purchase
from worker.buy.jobs import onward
from worker.buy.purchase import Heard
from worker.deliver import delivery
from worker.deliver.delivery import GoodEnd
from worker.threads import BatchedStep


def good_end(claimed, through=None):
    return GoodEnd(ending=Ending.succeeded(claimed.id, claimed.attempt, steps.success()), through=through)


def halves(numbers):
    """Refuses odd ones, and with them the whole group."""
    if odd := [number for number in numbers if number % 2]:
        raise ValueError(odd)
    return [number // 2 for number in numbers]


def test_one_that_fails_keeps_no_other_back():
    found = apart(halves, [2, 4, 5, 6, 8])
    assert [str(each) for each in found] == ["1", "2", "[5]", "3", "4"]


def test_what_failed_takes_no_further_step():
    first = ValueError("first")
    assert onward(halves, [4, first, 8]) == [2, first, 4]


def test_what_comes_while_a_group_is_at_work_goes_together_into_the_next():
    at_work, gate, groups = threading.Event(), threading.Event(), []

    def step(items):
        groups.append(list(items))
        at_work.set()
        assert gate.wait(PATIENCE)
        return items

    together = BatchedStep("test", step)
    threads = [beside(lambda: together.take(0))]
    assert at_work.wait(PATIENCE)
    threads += [beside(lambda: together.take(1)) for _ in range(3)]
    wait_until(lambda: len(together._gathering._waiting.items_waiting()) == 3, what="the others")
    gate.set()
    joined(*threads)
    assert groups == [[0], [1, 1, 1]]


@pytest.mark.django_db(transaction=True)
def test_what_is_bought_is_delivered_also_where_no_thread_is_left_for_the_groups(shift, key, image_model, monkeypatch):
    names, start = {"answers", "endings"}, threading.Thread.start
    wait_until(lambda: names.isdisjoint(each.name for each in threading.enumerate()), what="the earlier groups' end")

    def begin(thread):
        if thread.name in names:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr("threading.Thread.start", begin)
    task_id = picture(key, "a fox")
    joined(beside(shift.execute))
    assert task(task_id).status == "succeeded"


@pytest.mark.django_db
def test_a_task_whose_books_are_wrong_keeps_no_other_from_its_end(key, image_model):
    worker = steps.worker()
    steps.submitted_many(key, 3)
    claimed = steps.claimed(worker)
    Hold.objects.filter(reference=claimed[1].id).update(state="released")
    found = apart(delivery.end_together, [good_end(each) for each in claimed])
    assert [isinstance(each, UnbalancedHold) or each for each in found] == [True, True, True]
    assert [task(each.id).status for each in claimed] == ["succeeded", "running", "succeeded"]


@pytest.mark.django_db(transaction=True)
def test_an_end_that_its_group_refuses_is_judged_alone_and_nothing_stays_in_hand(shift, key, image_model, caplog):
    bad, good = picture(key, "a fox"), picture(key, "a hen")
    claimed = shift.claim()
    Hold.objects.filter(reference=bad).update(state="released")
    shift.run(claimed)
    assert [task(each).status for each in (bad, good)] == ["running", "succeeded"]
    assert shift.execution.in_hand == frozenset()
    assert shift.execution.wait_paid(0.0)
    assert f"task {bad} cannot be ended" in caplog.text
    Hold.objects.filter(reference=bad).update(state="open")


@pytest.mark.django_db
def test_many_answers_and_ends_cost_no_more_statements_than_one(key, image_model, image_channel):
    worker, spent = steps.worker(), {}
    for count in (1, 20):
        steps.submitted_many(key, count)
        claimed = steps.claimed(worker)
        calls = {each.id: steps.intended(each, worker) for each in claimed}
        heard = [
            Heard(
                answer=purchase.CallAnswer(call_id=call, task_id=task_id),
                through=(image_channel.pk, None),
            )
            for task_id, call in calls.items()
        ]
        good = [good_end(each, (image_channel.pk, None)) for each in claimed]
        with steps.captured() as statements:
            assert purchase.record_together(heard) == [True] * count
            assert delivery.end_together(good) == [True] * count
        spent[count] = len(statements)
    assert spent[1] == spent[20]
