"""The admin is there for ADMIN_NETWORKS only, where they are set."""

from ipaddress import ip_network

import pytest
from django.test import Client

from common.http import front_body
from front import django_application
from tests.scopes import scope

pytestmark = pytest.mark.django_db

PATHS = ("/admin", "/admin/", "/admin/login/", "/admin/nothing/")


@pytest.fixture
def office(settings):
    settings.ADMIN_NETWORKS = (ip_network("192.0.2.0/24"),)
    settings.TRUSTED_PROXIES = (ip_network("10.0.0.1/32"),)


def login_from(peer, forwarded=None):
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return Client().get("/admin/login/", headers=headers, REMOTE_ADDR=peer)


def test_to_everybody_else_there_is_no_admin(office):
    client = Client(REMOTE_ADDR="198.51.100.1")
    unknown = client.get("/nothing")
    for path in PATHS:
        for answer in (client.get(path), client.post(path)):
            assert (answer.status_code, answer.content) == (404, unknown.content), path
            assert answer.headers == unknown.headers, path


def test_the_networks_see_the_admin(office):
    assert login_from("192.0.2.7").status_code == 200
    assert login_from("10.0.0.1", "192.0.2.7").status_code == 200


def test_nobody_forwards_himself_into_the_networks(office):
    assert login_from("198.51.100.1", "192.0.2.7").status_code == 404
    assert login_from("10.0.0.1", "192.0.2.7, 198.51.100.1").status_code == 404
    assert login_from("10.0.0.1", "192.0.2.7, nonsense").status_code == 404
    assert login_from("").status_code == 404


def test_without_networks_the_admin_is_open(settings):
    settings.ADMIN_NETWORKS = ()
    assert login_from("198.51.100.1").status_code == 200


def test_a_header_with_underscores_is_no_word_of_a_proxy(office):
    asked = scope("GET", "/admin/login/", x_forwarded_for="198.51.100.1")
    asked["client"] = ("10.0.0.1", 4711)
    asked["headers"].append((b"x_forwarded_for", b"192.0.2.7"))
    body = front_body.empty()
    environ = django_application.environ_of(asked, body)
    body.close()
    assert environ["HTTP_X_FORWARDED_FOR"] == "198.51.100.1"
