"""How often somebody may try to sign in: by the address, and by the key that is presented from there."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.db import connection
from django.db.models import F
from django.test import Client

from console import sessions, sign_in_tries
from console.models import PresentedKey, Session
from console.sign_in_tries import BY_ADDRESS, BY_KEY
from tests.rows import make_key

pytestmark = pytest.mark.django_db

HERE, ELSEWHERE = "192.0.2.1", "192.0.2.2"


def present(secret, address=HERE, **headers):
    return Client().post("/console/sign-in/", {"key": secret}, REMOTE_ADDR=address, headers=headers)


def grow_older(seconds):
    PresentedKey.objects.update(at=F("at") - timedelta(seconds=seconds))


def wrong(number):
    return f"dr-task-wrong-{number}"


def test_a_key_signs_in_so_often_from_one_address_and_still_from_another(key):
    assert {present(key.secret).status_code for _ in range(BY_KEY)} == {302}
    assert present(key.secret).status_code == 429
    assert present(key.secret, ELSEWHERE).status_code == 302
    assert Session.objects.count() == BY_KEY + 1


def test_who_tries_many_keys_is_held_up_and_nobody_elsewhere(key):
    assert {present(wrong(number)).status_code for number in range(BY_ADDRESS)} == {401}
    assert present(wrong(0)).status_code == present(key.secret).status_code == 429
    assert present(key.secret, ELSEWHERE).status_code == 302


def test_the_page_says_when_to_try_again(key, monkeypatch):
    monkeypatch.setattr(sign_in_tries, "BY_KEY", 2)
    for _ in range(2):
        present(key.secret)
    grow_older(20)
    answer = present(key.secret)
    left = int(answer.headers["Retry-After"])
    assert 1 <= left <= 40
    assert f"Try again in {left} seconds." in answer.content.decode()
    assert "copied the whole key" not in answer.content.decode()
    assert key.secret not in answer.content.decode()


def test_after_a_minute_all_is_forgotten(key, monkeypatch):
    monkeypatch.setattr(sign_in_tries, "BY_KEY", 2)
    for _ in range(2):
        present(key.secret)
    assert present(key.secret).status_code == 429
    grow_older(61)
    assert present(key.secret).status_code == 302
    assert PresentedKey.objects.count() == 1


def test_a_network_of_ipv6_is_one_address_and_a_proxys_word_counts_where_it_is_trusted(key, monkeypatch, settings):
    monkeypatch.setattr(sign_in_tries, "BY_KEY", 1)
    assert [present(key.secret, f"2001:db8::{host}").status_code for host in (1, 2)] == [302, 429]
    assert present(key.secret, "2001:db8:0:1::1").status_code == 302
    settings.TRUSTED_PROXIES = [ip_network("192.0.2.0/24")]
    said = [present(key.secret, x_forwarded_for=f"203.0.113.{host}").status_code for host in (1, 2, 1)]
    assert said == [302, 302, 429]


def test_nothing_of_what_was_presented_is_kept(key):
    present(key.secret)
    assert key.secret not in str(PresentedKey.objects.values().get())
    assert HERE not in str(PresentedKey.objects.values().get())


def test_what_cannot_be_a_key_asks_nothing_of_the_database(db, django_assert_num_queries):
    with django_assert_num_queries(0):
        for nonsense in ("", "é", "x" * 201):
            assert present(nonsense).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_tries_at_the_same_time_are_no_more_either(key, monkeypatch):
    monkeypatch.setattr(sign_in_tries, "BY_KEY", 3)

    def signs_in(_):
        try:
            return present(key.secret).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(signs_in, range(8))) == [302] * 3 + [429] * 5


def test_a_key_has_so_many_sessions_and_the_oldest_ends(key, monkeypatch):
    monkeypatch.setattr(sessions, "MOST_OF_A_KEY", 2)
    tokens = [sessions.begin(key.secret) for _ in range(3)]
    other = sessions.begin(make_key(key.account, "second").secret)
    found = set(Session.objects.values_list("digest", flat=True))
    assert found == {sessions.digest(token) for token in (*tokens[1:], other)}
