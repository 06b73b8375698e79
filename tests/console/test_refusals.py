"""What the console answers to requests that reach no page of it."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from console import sessions, urls

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


@pytest.mark.parametrize("path", ["/console/nowhere/", "/admin/nowhere/", "/docs/nowhere/"])
def test_an_unknown_page_leads_on(operator, path):
    answer = operator.get(path)
    assert answer.status_code == 404
    assert 'name="viewport"' in answer.content.decode()
    assert 'href="/console/"' in answer.content.decode()


def test_the_page_of_a_task_is_read_with_head_too(visitor, image_model):
    ran = visitor.post("/console/create/aurora-image/", {"params.prompt": "a fox", "params.image_size": "0"})
    url = f"/console/tasks/{ran.headers['Location'].partition('#')[2]}/"
    assert [visitor.head(url).status_code, visitor.get(url).status_code] == [200, 200]
    assert visitor.post(url).status_code == 405


GIVEN = {"model": "aurora-image", "task_id": "task_01m83y8vzq3pjgrw82c5571hra", "month": "2026-11"}


@pytest.mark.parametrize("pattern", urls.urlpatterns, ids=lambda pattern: pattern.name)
def test_a_form_of_elsewhere_does_nothing_for_who_is_signed_in(visitor, pattern):
    strict = Client(enforce_csrf_checks=True)
    strict.cookies[sessions.COOKIE] = visitor.cookies[sessions.COOKIE].value
    given = {name: GIVEN[name] for name in pattern.pattern.converters}
    answer = strict.post(reverse(f"console:{pattern.name}", kwargs=given))
    assert answer.status_code == 403
    assert strict.get("/console/live/").status_code == 200


def test_the_cookie_of_a_session_is_secure_where_the_service_is(key, client, settings):
    settings.SESSION_COOKIE_SECURE = True
    answer = client.post("/console/sign-in/", {"key": key.secret})
    assert answer.cookies[sessions.COOKIE]["secure"] is True
