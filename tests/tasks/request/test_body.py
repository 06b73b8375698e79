"""The top level of a submission."""

from typing import Any

from common.errors import InvalidRequest
from tasks.request.body import parse
from tasks.request.values import SubmissionBody
from tests.tasks.request.param_requests import rules

POLICY = rules().urls


def submission(**changes: Any) -> dict[str, Any]:
    return {"model": "aurora", "params": {"prompt": "x"}, **changes}


def refusal(document: dict[str, Any]) -> str:
    """The message that refuses it; empty where it is accepted."""
    try:
        parse(document, POLICY)
    except InvalidRequest as error:
        return error.message
    return ""


def test_every_field_is_read():
    metadata = {"order": "A-1", "count": 2, "ratio": 0.5, "paid": True, "note": None}
    document = submission(modality="image", metadata=metadata, callback_url="https://hooks.example.com/cb")
    assert parse(document, POLICY) == SubmissionBody(
        model="aurora",
        modality="image",
        params={"prompt": "x"},
        metadata=metadata,
        callback_url="https://hooks.example.com/cb",
    )


def test_optional_fields_may_be_absent_or_null():
    assert parse(submission(modality=None, metadata=None, callback_url=None), POLICY) == parse(submission(), POLICY)


def test_an_unknown_field_is_refused_by_name():
    for name in ("plan", "Model", "webhook", "prompt", "Idempotency-Key"):
        assert refusal(submission(**{name: "x"})).startswith(f"{name} is not supported"), name
    assert refusal(submission(**{"": None})).startswith('[""] is not supported')


def test_model_and_params_are_required():
    for name in ("model", "params"):
        document = submission()
        del document[name]
        assert refusal(document) == refusal(submission(**{name: None})) == f"{name} is required."


BAD: list[tuple[str, list[Any], str]] = [
    ("model", ["", "  "], "must not be blank."),
    ("model", [1, True, ["m"], {}], "must be a string."),
    ("model", ["m" * 201], "must be at most 200 characters long."),
    ("modality", ["audio", "", "IMAGE", 3, True, ["image"]], "must be one of image, video, 3d."),
    ("params", [[], "x", 1, True, "{}"], "must be an object."),
    ("metadata", [[], "x", 1, True], "must be an object."),
    ("callback_url", ["", " "], "must not be blank."),
    ("callback_url", [1, True, ["https://a.example.com/"], {}], "must be a string."),
]


def test_a_bad_field_is_refused_by_name():
    for name, values, reason in BAD:
        for value in values:
            assert refusal(submission(**{name: value})) == f"{name} {reason}", value
    assert parse(submission(model="m" * 200), POLICY).model == "m" * 200


def test_metadata_within_its_limits_is_kept():
    many, long = {str(key): key for key in range(50)}, {"k" * 64: "v" * 512}
    for metadata in ({}, many, long, {"a": ""}, {"ключ": "é" * 512}, {"a": 2**63 - 1}):
        assert parse(submission(metadata=metadata), POLICY).metadata == metadata


def test_metadata_outside_its_limits_is_refused_by_path():
    assert refusal(submission(metadata={str(key): key for key in range(51)})).startswith("metadata ")
    assert refusal(submission(metadata={"k" * 65: 1})).startswith("metadata[")
    assert refusal(submission(metadata={"order id": {}})).startswith('metadata["order id"]')
    for value in ("v" * 513, [], {"id": 1}):
        assert refusal(submission(metadata={"order": value})).startswith("metadata.order "), value


def test_a_callback_url_of_2048_bytes_is_accepted_and_of_2049_refused():
    url = "https://hooks.example.com/".ljust(2048, "a")
    assert parse(submission(callback_url=url), POLICY).callback_url == url
    assert refusal(submission(callback_url=url + "a")) == "callback_url must be at most 2048 bytes long."
