"""What an ended task is as the answer to an image call; how it is sent, `tests/front/test_image_calls.py` shows."""

import base64
import dataclasses

import pytest

from tasks import failures
from tasks.shown import representation
from tasks_api.openai import image_answers

OF_TYPE = {
    failure.type: failure
    for failure in (
        *failures.OF_KIND.values(),
        failures.OUTCOME_UNKNOWN,
        failures.STORAGE_UNAVAILABLE,
        failures.ROUTE_VANISHED,
        failures.TIMED_OUT,
        failures.INTERNAL,
    )
}
STATUSES = {
    "TASK_CONTENT_REJECTED": 400,
    "TASK_UPSTREAM_REJECTED": 400,
    "TASK_INPUT_UNREACHABLE": 400,
    "TASK_TIMEOUT": 504,
    "TASK_INTERNAL_ERROR": 500,
    "TASK_UPSTREAM_ERROR": 503,
    "TASK_OUTCOME_UNKNOWN": 503,
    "TASK_STORAGE_UNAVAILABLE": 503,
    "TASK_NO_CAPABLE_ROUTE": 503,
}


def error_of(make_task, key, status: str, failure: failures.Failure | None = None):
    task = make_task(status, error=failure and dataclasses.asdict(failure))
    return image_answers.error_of(representation.find_one(key.id, task.id))


def test_each_end_has_its_status(make_task, key):
    assert set(OF_TYPE) == set(STATUSES)
    for error_type, failure in OF_TYPE.items():
        status = "timeout" if error_type == "TASK_TIMEOUT" else "failed"
        error = error_of(make_task, key, status, failure)
        assert (error.type, error.status, error.message) == (error_type, STATUSES[error_type], failure.message)
        assert error.may_have_cost


def test_a_canceled_task_says_so(make_task, key):
    error = error_of(make_task, key, "canceled")
    assert (error.type, error.status, error.may_have_cost) == ("TASK_CANCELED", 400, True)


@pytest.mark.parametrize("sizes", [(1, 1), (2, 2), (3, 1), (2, 5, 1, 1), (4,)])
def test_base64_in_pieces_is_the_base64_of_the_whole(sizes):
    class Pieces:
        def __init__(self) -> None:
            self.left = [bytes(range(n, n + size)) for n, size in enumerate(sizes)]

        @property
        def remaining(self) -> int:
            return sum(map(len, self.left))

        def __iter__(self):
            while self.left:
                yield self.left.pop(0)

    whole = b"".join(Pieces().left)
    assert b"".join(image_answers._base64(Pieces())) == base64.b64encode(whole)
