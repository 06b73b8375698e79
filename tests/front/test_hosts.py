"""Which Host a request may name, through the whole front in this process."""

import pytest

from front.application import HostRefused, check_host
from tests.front.test_companion_keys import GEMINI, IMAGES, LISTS, OPENAI, TASKS, ask
from tests.scopes import scope

OWN_SIDE = (
    "/v1/tasks/events",
    "/v1/tasks/task_01m83y8vzq3pjgrw82c5571hra/assets/0",
    "/assets/task_01m83y8vzq3pjgrw82c5571hra/0.png",
    "/v1/videos/video_01m83y8vzq3pjgrw82c5571hra/content",
    "/console/events",
    "/v1/embeddings",
    "/",
)


@pytest.mark.parametrize("path", [*OPENAI, *IMAGES, *LISTS, *TASKS, *OWN_SIDE])
def test_a_host_that_is_not_ours_is_refused_on_every_path(path):
    said = ask("GET" if path in (*LISTS, *OWN_SIDE) else "POST", path, "dr-gen-1", host="evil.example")
    assert said.status == 400
    assert said.document["error"]["message"] == "Host: names no host of this service."
    assert said.headers["content-type"] == "application/json"
    assert said.headers["x-request-id"]


def test_each_dialect_is_told_in_its_own_words():
    assert ask("POST", "/v1/chat/completions", host="x").refusal == (400, "invalid_request_error")
    assert ask("POST", "/v1/messages", host="x").document["type"] == "error"
    assert ask("POST", GEMINI[0], host="x").refusal == (400, "INVALID_ARGUMENT")
    assert ask("POST", "/v1/tasks", host="x").refusal == (400, "TASK_INVALID_REQUEST")
    page = ask("GET", "/console/sign-in/", host="x", accept="text/html")
    assert (page.status, b"<h1>This was refused</h1>" in page.raw) == (400, True)


def test_whoever_looks_after_the_process_may_ask_it_by_any_name():
    assert ask("GET", "/healthz", host="10.0.0.7:8000").status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "",
        "a,testserver",
        "testserver.evil.example",
        "user@testserver",
        "testserver:x",
        "é",
        "a" * 70_000,
    ],
)
def test_what_is_no_host_of_ours_is_none(host, settings):
    settings.ALLOWED_HOSTS = ["testserver", ".ours.example", "[::1]"]
    with pytest.raises(HostRefused):
        check_host(scope("GET", "/v1/models", host=host))


@pytest.mark.parametrize("host", ["testserver", "TESTSERVER:8000", "testserver.", "api.ours.example", "[::1]:8000"])
def test_ours_are_told_as_django_tells_them(host, settings):
    settings.ALLOWED_HOSTS = ["testserver", ".ours.example", "[::1]"]
    check_host(scope("GET", "/v1/models", host=host))
    settings.ALLOWED_HOSTS = ["*"]
    check_host(scope("GET", "/v1/models", host="evil.example"))


def test_two_hosts_are_none(settings):
    settings.ALLOWED_HOSTS = ["testserver"]
    twice = scope("GET", "/v1/models")
    twice["headers"].append((b"host", b"testserver"))
    with pytest.raises(HostRefused):
        check_host(twice)


def test_a_request_of_http_1_0_may_name_none():
    unnamed = scope("GET", "/v1/models")
    unnamed["headers"] = []
    check_host(unnamed)
