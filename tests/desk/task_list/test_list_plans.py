"""The lists of the desk keep to their indexes, with as many ended tasks as a busy service has."""

import pytest

from common import sql
from desk.callback_page import delivery_facts
from desk.task_list import finding
from desk.task_list.finding import TaskQuery
from tests.rows import IssuedKey
from tests.tasks import steps
from tests.tasks.test_query_plans import busy as busy
from tests.tasks.test_query_plans import keys as keys

OF_LIVING = ("task_claim", "task_worker", "task_channel", "task_limits")
pytestmark = pytest.mark.django_db


def reads_all(plan: str) -> bool:
    """Whether a step reads the tasks from end to end, and is not held to the newest by their own order."""
    lines = [line.strip() for line in plan.splitlines()]
    if sql.is_postgresql():
        return any("Seq Scan on tasks_task" in line for line in lines)
    return any(line.startswith(("SCAN t", "SCAN l")) and "USING" not in line and "B-TREE" in plan for line in lines)


def test_no_list_reads_all_tasks(keys: list[IssuedKey], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finding, "SCANNED", 500)
    of_key, of_account = {"key_id": keys[1].id}, {"account_id": keys[1].account.pk}
    for asked in (
        {},
        {"status": "succeeded"},
        {"status": "failed"},
        {"status": "queued"},
        {"status": "running"},
        {"status": "running", "channel_id": 1},
        {"modality": "video"},
        of_key,
        {**of_key, "status": "failed", "model": "aurora-image"},
        of_account,
        {**of_account, "status": "failed"},
        {**of_account, "status": "queued"},
    ):
        with steps.captured() as statements:
            finding.find(TaskQuery(**asked))
        for statement in statements:
            if "tasks_task" in statement:
                plan = steps.explained(statement)
                assert not reads_all(plan), (asked, statement, plan)
                assert "l.status" not in statement or any(index in plan for index in OF_LIVING), (asked, plan)


def test_no_list_of_callbacks_reads_all_of_them(keys: list[IssuedKey], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery_facts, "SCANNED", 500)
    for asked in ({}, {"status": "exhausted"}, {"host": "nobody:1", "before": "task_zz"}):
        with steps.captured() as statements:
            delivery_facts.find(**asked)
        for statement in statements:
            plan = steps.explained(statement)
            assert "Seq Scan on callbacks_delivery" not in plan, (asked, statement, plan)
            assert "Seq Scan on tasks_task" not in plan, (asked, statement, plan)
            assert "B-TREE" not in plan, (asked, statement, plan)
