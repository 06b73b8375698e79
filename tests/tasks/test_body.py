"""The top level of a submission."""

from typing import Any

import pytest

from common.errors import InvalidRequest
from tasks.body import SubmissionBody, parse
from tests.tasks.param_requests import rules

POLICY = rules().urls


def submission(**changes: Any) -> dict[str, Any]:
    return {"model": "aurora", "params": {"prompt": "x"}, **changes}


def refusal(document: dict[str, Any]) -> str:
    with pytest.raises(InvalidRequest) as caught:
        parse(document, POLICY)
    return caught.value.message


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


@pytest.mark.parametrize("name", ["plan", "Model", "webhook", "prompt", "", "Idempotency-Key"])
@pytest.mark.parametrize("value", ["x", None])
def test_an_unknown_field_is_refused_by_name(name: str, value: object):
    message = refusal(submission(**{name: value}))
    assert message.startswith(f"{name} is not supported" if name else '[""] is not supported')


@pytest.mark.parametrize("name", ["model", "params"])
def test_model_and_params_are_required(name: str):
    document = submission()
    del document[name]
    assert refusal(document) == f"{name} is required."
    assert refusal(submission(**{name: None})) == f"{name} is required."


@pytest.mark.parametrize("model", ["", "  ", "m" * 201, 1, True, ["m"], {}])
def test_a_bad_model_is_refused(model: object):
    assert refusal(submission(model=model)).startswith("model must be ")


def test_a_model_name_of_200_characters_is_accepted():
    assert parse(submission(model="m" * 200), POLICY).model == "m" * 200


@pytest.mark.parametrize("modality", ["audio", "", "IMAGE", 3, True, ["image"]])
def test_a_bad_modality_is_refused(modality: object):
    assert refusal(submission(modality=modality)) == "modality must be one of image, video, 3d."


@pytest.mark.parametrize("params", [[], "x", 1, True, "{}"])
def test_params_must_be_an_object(params: object):
    assert refusal(submission(params=params)) == "params must be an object."


@pytest.mark.parametrize("metadata", [[], "x", 1, True])
def test_metadata_must_be_an_object(metadata: object):
    assert refusal(submission(metadata=metadata)) == "metadata must be an object."


@pytest.mark.parametrize(
    "metadata",
    [{}, {str(key): key for key in range(50)}, {"k" * 64: "v" * 512}, {"a": ""}, {"ключ": "é" * 512}, {"a": 2**63 - 1}],
)
def test_metadata_within_its_limits_is_kept(metadata: dict[str, Any]):
    assert parse(submission(metadata=metadata), POLICY).metadata == metadata


@pytest.mark.parametrize(
    ("metadata", "path"),
    [
        ({str(key): key for key in range(51)}, "metadata"),
        ({"order": "v" * 513}, "metadata.order"),
        ({"order": []}, "metadata.order"),
        ({"order": {"id": 1}}, "metadata.order"),
        ({"order id": {}}, 'metadata["order id"]'),
        ({"k" * 65: 1}, "metadata["),
    ],
)
def test_metadata_outside_its_limits_is_refused_by_path(metadata: dict[str, Any], path: str):
    assert refusal(submission(metadata=metadata)).startswith(path)


@pytest.mark.parametrize("url", [1, True, "", " ", ["https://a.example.com/"], {}])
def test_a_callback_url_must_be_a_non_empty_string(url: object):
    assert refusal(submission(callback_url=url)) == "callback_url must be a non-empty string."


def test_a_callback_url_of_2048_bytes_is_accepted_and_of_2049_refused():
    url = "https://hooks.example.com/".ljust(2048, "a")
    assert parse(submission(callback_url=url), POLICY).callback_url == url
    assert refusal(submission(callback_url=url + "a")) == "callback_url must be at most 2048 bytes long."
