"""JSON that every reader takes."""

import json

import pytest

from relay.wire import json_documents


@pytest.mark.parametrize(
    ("document", "written"),
    [
        ({"a": "é"}, '{"a": "é"}'.encode()),
        ({"a": float("nan"), "b": [float("-inf")], "é": 1}, rb'{"a": null, "b": [null], "\u00e9": 1}'),
        (["\ud83d\ude00"], rb'["\ud83d\ude00"]'),
        (None, b"null"),
    ],
)
def test_only_what_json_has_is_written(document, written) -> None:
    assert json_documents.encode(document) == written
    json.loads(written, parse_constant=pytest.fail)


def test_what_is_too_deep_is_said_to_be() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        json_documents.encode(deep)
