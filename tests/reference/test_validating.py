"""What is not documented is refused: else the answers of all other tests would mean nothing."""

import json

import pytest

from tests.reference import places, validating
from tests.reference.asking import Said
from tests.reference.places import Undocumented

RECEIPT = {
    "id": "task_01k5q8z3v7h2m4n6p8r0s2t4w6",
    "status": "queued",
    "modality": "image",
    "model": "aurora-image",
    "created_at": "2026-11-21T09:30:00.250Z",
    "estimated_cost": 0.08,
}
HEADERS = {
    "Content-Type": "application/json",
    "X-Request-Id": "a",
    "Cache-Control": "no-store",
    "Location": f"/v1/tasks/{RECEIPT['id']}",
    "Retry-After": "1",
}


def check(document=RECEIPT, *, status: int = 202, method: str = "POST", path: str = "/v1/tasks", **headers) -> None:
    kept = {name: value for name, value in {**HEADERS, **headers}.items() if value is not None}
    said = Said(status_code=status, headers=kept, content=json.dumps(document).encode())
    validating.answer(method, path, said)


def test_a_receipt_is_documented():
    check()


@pytest.mark.parametrize(
    "given", [{"path": "/v1/nothing"}, {"method": "PUT"}, {"status": 201}, {"Content-Type": "text/html"}]
)
def test_what_nobody_has_documented(given):
    with pytest.raises(Undocumented):
        check(**given)


@pytest.mark.parametrize(
    "change",
    [
        {"more": 1},
        {"id": "task_1"},
        {"status": "done"},
        {"estimated_cost": "0.08"},
        {"estimated_cost": -1},
        {"created_at": "2026-11-21 09:30"},
        {"created_at": "2026-13-41T09:30:00.250Z"},
    ],
)
def test_fields_that_are_otherwise(change):
    with pytest.raises(AssertionError, match=r"^POST /v1/tasks → 202: body"):
        check({**RECEIPT, **change})


def test_a_field_that_is_missing():
    with pytest.raises(AssertionError, match="'modality' is a required property"):
        check({name: value for name, value in RECEIPT.items() if name != "modality"})


@pytest.mark.parametrize("headers", [{"Retry-After": None}, {"Retry-After": "2"}, {"Location": "/elsewhere"}])
def test_headers_that_are_otherwise(headers):
    with pytest.raises(AssertionError, match=r"(Retry-After|Location)\b"):
        check(**headers)


def test_a_header_that_nobody_has_documented():
    with pytest.raises(Undocumented, match="x-secret"):
        check(**{"X-Secret": "1"})


def test_a_body_where_none_is_documented():
    with pytest.raises(AssertionError, match="a body where none"):
        validating.body(places.at("components", "responses", "AssetKnown"), "application/json", b"{}")


def test_a_literal_path_comes_before_a_placeholder():
    names = [places.operation("GET", f"/v1/tasks/{name}").names[1] for name in ("models", RECEIPT["id"])]
    assert names == ["/v1/tasks/models", "/v1/tasks/{task_id}"]
