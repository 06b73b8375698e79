"""What browsers are told about our pages, and about the cookies of those who sign in."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase of an operator"


def directives(answer):
    return dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))


def signed_in(client):
    User.objects.create_superuser("ada", password=PASSWORD)
    return client.post(reverse("admin:login"), {"username": "ada", "password": PASSWORD})


@pytest.mark.parametrize("path", ["/admin/login/", "/admin/", "/admin/nothing/", "/nothing"])
def test_every_page_may_run_nothing_inline_and_stand_in_no_frame(client, path):
    answer = client.get(path)
    policy = directives(answer)
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["form-action"] == "'self'"
    assert "unsafe" not in answer["Content-Security-Policy"]
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Referrer-Policy"] == answer["Cross-Origin-Opener-Policy"] == "same-origin"


def test_error_pages_carry_the_policy_too(settings):
    for client, expected in ((Client(headers={"Host": "evil.example"}), 400), (Client(enforce_csrf_checks=True), 403)):
        answer = client.post("/admin/login/", {"username": "ada"})
        assert answer.status_code == expected
        assert directives(answer)["default-src"] == "'none'"
        assert "<style" not in answer.content.decode()


def test_browsers_are_told_to_come_by_https_where_that_is_our_address(client, settings):
    settings.PUBLIC_BASE_URL = "https://api.ours.example"
    assert client.get("/admin/login/")["Strict-Transport-Security"] == "max-age=31536000"
    settings.PUBLIC_BASE_URL = "http://127.0.0.1:8000"
    assert "Strict-Transport-Security" not in client.get("/admin/login/")


def test_cookies_are_out_of_reach_of_scripts_of_other_sites_and_of_plain_http(client):
    cookies = {**client.get(reverse("admin:login")).cookies, **signed_in(client).cookies}
    for cookie in (cookies["sessionid"], cookies["csrftoken"]):
        assert cookie["secure"], cookie
        assert cookie["samesite"] == "Lax", cookie
        assert cookie["httponly"], cookie
    assert cookies["sessionid"]["max-age"] == 12 * 3600
