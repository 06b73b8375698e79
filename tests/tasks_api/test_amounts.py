"""Amounts of money in answers: plain decimals, however small, while a client's own numbers are echoed as they are."""

import re

import pytest

from catalog.models import MediaModel
from tasks.shown import callback_bodies
from tests.callbacks import steps
from tests.tasks_api.asking import end, image_task

EXPONENT = re.compile(rb"[:, ]-?[0-9.]+[eE]")


@pytest.fixture
def task_id(api, image_model) -> str:
    """A succeeded task of 0.00001 USD."""
    MediaModel.objects.update(prices={"1K": "0.00001"})
    task_id = api.submitted(image_task() | {"metadata": {"tiny": 1e-07}, "callback_url": "https://example.com/hook"})
    end(task_id, "succeeded")
    return task_id


def test_a_task_shows_small_amounts_without_exponents(api, task_id):
    for path in (f"/{task_id}", "", f"/{task_id}/trace"):
        content = api.get(f"/v1/tasks{path}").content
        assert path.endswith("trace") or b'"actual_cost":0.00001,' in content, path
        assert set(EXPONENT.findall(content)) <= {b":1e"}, path  # the client's own


def test_so_do_prices_quotes_submissions_and_sums(api, task_id):
    answers = {path: api.get(f"/v1/tasks/{path}").content for path in ("usage", "models")}
    answers |= {"quote": api.quote(image_task()).content, "submission": api.submit().content}
    for path, content in answers.items():
        assert b"0.00001" in content, path
        assert not EXPONENT.search(content), path


def test_a_callback_writes_amounts_as_answers_do(api, task_id):
    body = callback_bodies.make(steps.claimed_one(), 1)
    assert b'"actual_cost":0.00001,' in body
    assert b'"metadata":{"tiny":1e-07}' in body
