"""What the console answers to requests that reach no page of it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

QUOTE = "/console/quote/aurora-image/"
FORM = "multipart/form-data; boundary=x"


@pytest.mark.parametrize("media_type", ["multipart/form-data", f"{FORM}{'x' * 300}"], ids=["none", "too-long"])
def test_a_script_is_told_in_json_that_its_form_cannot_be_read(visitor, image_model, media_type):
    answer = visitor.generic("POST", QUOTE, b"--x--", content_type=media_type, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
    page = visitor.generic("POST", QUOTE, b"--x--", content_type=media_type)
    assert (page.status_code, page.headers["Content-Type"]) == (400, "text/html; charset=utf-8")


def test_a_script_is_told_in_json_that_it_sends_too_many_files(visitor, image_model):
    files = [SimpleUploadedFile("a.png", b"png") for _ in range(101)]
    answer = visitor.post(QUOTE, {"params.images.file": files}, headers={"Accept": "application/json"})
    assert (answer.status_code, answer.json()["error"]["type"]) == (400, "TASK_INVALID_REQUEST")
    assert answer.json()["error"]["message"] == "The form has too many files."


@pytest.mark.parametrize("path", ["", "sign-in/", "create/", "create/aurora-image/", "live/", "gallery/", "usage/"])
def test_pages_are_read_with_get_and_head_and_with_no_other_method(visitor, image_model, path):
    url = f"/console/{path}"
    assert visitor.head(url).status_code == visitor.get(url).status_code
    assert [visitor.put(url).status_code, visitor.delete(url).status_code] == [405, 405]
    assert "PUT" not in visitor.options(url).headers["Allow"]


def test_the_page_of_a_task_is_read_with_head_too(visitor, image_model):
    ran = visitor.post("/console/create/aurora-image/", {"params.prompt": "a fox", "params.image_size": "0"})
    url = f"/console/tasks/{ran.headers['Location'].partition('#')[2]}/"
    assert [visitor.head(url).status_code, visitor.get(url).status_code] == [200, 200]
    assert visitor.post(url).status_code == 405
