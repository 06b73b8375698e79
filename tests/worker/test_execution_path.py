"""The modules that one execution enters, beside the table that tells of them, and how far its path may be long."""

import re

import pytest
from django.db import connection

from tasks.claims import queue
from tests.tracing import ROOT, Trace, traced
from tests.worker.driving import Shift, picture, task
from tools.children import wait_until
from worker.threads import ThreadPool

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("image_model")]

ROOMS = ("worker", "tasks", "billing", "callbacks", "storage")
ROW = re.compile(r"^\| `([a-z0-9_/]+\.py)` \| \S.*\|$", re.MULTILINE)
MODULES, FUNCTIONS, RETURNS = 60, 300, 180


@pytest.fixture
def execution(shift: Shift, key) -> Trace:
    """One picture from the claim to its end, on a worker that has made two before."""
    tasks = [picture(key, f"fox {number}") for number in range(3)]
    pool = ThreadPool("task", 8)

    def execute() -> None:
        claimed = queue.claim(shift.id, seats=1).tasks
        shift.execution.take(claimed)
        shift.execution.run(claimed, pool.start)
        wait_until(lambda: not shift.execution.in_hand, what="the task's end")

    with traced() as trace:
        execute()
        execute()
        trace.clear()
        execute()
    assert [task(each).status for each in tasks] == ["succeeded"] * 3
    return trace


def documented() -> list[str]:
    """The modules of the table "One execution", in its order."""
    text = (ROOT / "worker" / "README.md").read_text()
    return ROW.findall(text.partition("## One execution\n")[2].partition("\n## ")[0])


def test_the_table_lists_the_modules_of_one_execution_in_order_of_their_first_entry(execution):
    entered = execution.of(*ROOMS)
    assert entered == [each for each in documented() if each in entered]
    if connection.vendor == "postgresql":
        assert documented() == entered


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite's path is another")
def test_one_execution_enters_few_modules_and_functions(execution):
    assert len(execution.modules) <= MODULES, execution.modules
    assert len(execution.functions) <= FUNCTIONS
    assert execution.returns <= RETURNS
