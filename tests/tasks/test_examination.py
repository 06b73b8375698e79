"""The checks of a submission: how far they came, and the error that stopped them."""

import pytest

from catalog import snapshot
from common.errors import ApiError
from tasks import examination
from tests.tasks import steps

REACHED = {
    "nothing": ({"plan": "standard"}, (False, False)),
    "no request": ({"params": {"prompt": "x", "n": 99}}, (False, False)),
    "the routes": ({"params": {"prompt": "x", "extra_body": {"n": "many"}}}, (True, True)),
    "no price": ({"params": {"prompt": "x", "extra_body": {"size": "auto"}}}, (True, True)),
}


@pytest.mark.parametrize("reached", REACHED)
def test_what_was_reached_is_told_with_the_error_that_a_submission_gets(key, image_model, reached):
    changes, expected = REACHED[reached]
    found = examination.examine(key.id, {**steps.IMAGE, **changes}, snapshot.latest())
    assert (found.request is not None, found.survey is not None) == expected
    assert isinstance(found.outcome, ApiError)
    with pytest.raises(type(found.outcome)) as raised:
        steps.prepared(key, **changes)
    assert raised.value.message == found.outcome.message


def test_a_submission_that_passes_is_routed_and_priced(key, image_model):
    found = examination.examine(key.id, steps.IMAGE, snapshot.latest())
    assert found.outcome == steps.prepared(key)
    assert (found.request, found.survey.plan) == (found.outcome.request, found.outcome.decision.plan)
