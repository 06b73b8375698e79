"""Every error of the interface is told in words: why it came, and what to do next."""

from collections.abc import Iterator

import pytest

from common.errors import ApiError
from console import error_words
from tasks import failures
from tasks.failures import Failure


def classes(base: type[ApiError]) -> Iterator[type[ApiError]]:
    for each in base.__subclasses__():
        yield each
        yield from classes(each)


REQUESTS = sorted({each.type for each in classes(ApiError) if hasattr(each, "type")})
FAILURES = [each for each in vars(failures).values() if isinstance(each, Failure)]
TASKS = sorted({each.type for each in (*FAILURES, *failures.OF_KIND.values())})


@pytest.mark.parametrize("error_type", REQUESTS)
def test_every_refusal_has_words(error_type):
    found = error_words.explain_request_error(error_type)
    assert found is not error_words.UNKNOWN
    assert found.why.endswith(".")
    assert found.next_step.endswith(".")


@pytest.mark.parametrize("error_type", TASKS)
def test_every_failure_of_a_task_has_words(error_type):
    found = error_words.explain_task_error(error_type)
    assert found is not error_words.UNKNOWN
    assert found.why.endswith(".")
    assert found.next_step.endswith(".")


def test_no_words_are_of_an_error_that_nobody_gets():
    assert set(error_words.REQUEST_ERRORS) == set(REQUESTS)
    assert set(error_words.TASK_ERRORS) == set(TASKS)


def test_another_versions_error_is_told_without_a_guess():
    assert (
        error_words.explain_task_error("TASK_NEW")
        == error_words.explain_request_error("TASK_NEW")
        == error_words.UNKNOWN
    )


def test_a_refused_page_says_why_and_what_to_do(visitor):
    page = visitor.get("/console/tasks/task_01m83y8vzq3pjgrw82c5571hra/").content.decode()
    found = error_words.REQUEST_ERRORS["TASK_NOT_FOUND"]
    for part in ("Task or asset not found.", found.why, found.next_step, "TASK_NOT_FOUND"):
        assert part.replace("'", "&#x27;") in page
