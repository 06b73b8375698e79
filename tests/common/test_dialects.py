"""Errors as each family of paths shows them."""

import json

import pytest

from common import dialects
from common.asgi import error_answer
from common.errors import InvalidRequest, PricingUnavailable, ServiceUnavailable


def decoded(answer):
    return json.loads(answer.body)


WRONG = InvalidRequest("params.n must be an integer from 1 to 4.", param="params.n")


@pytest.mark.parametrize("path", ["/v1/images/generations", "/v1/images/edits", "/v1/images/other", "/v1/videos/x"])
def test_sdks_get_openais_shape(path):
    shown = {"message": WRONG.message, "type": "TASK_INVALID_REQUEST", "param": "params.n"}
    assert decoded(error_answer(WRONG, path=path)) == {"error": shown | {"code": "TASK_INVALID_REQUEST"}}


@pytest.mark.parametrize("path", ["", "/v1/tasks", "/v1/tasks/images", "/v1/imagesque", "/other/v1/images/edits"])
def test_other_paths_get_type_and_message_alone(path):
    assert decoded(error_answer(WRONG, path=path)) == {"error": {"type": WRONG.type, "message": WRONG.message}}


def test_only_sdks_are_told_to_stay_away_and_never_for_long():
    away = PricingUnavailable("No price.", headers={"Retry-After": "300"})
    lost = ServiceUnavailable(may_have_cost=True)
    assert dialects.headers(away, dialects.TASKS) == {"Retry-After": "300"}
    assert dialects.headers(away, dialects.OPENAI) == {"Retry-After": "60"}
    assert dialects.headers(lost, dialects.TASKS) == {"Retry-After": "5"}
    assert dialects.headers(lost, dialects.OPENAI) == {"Retry-After": "5", "x-should-retry": "false"}
