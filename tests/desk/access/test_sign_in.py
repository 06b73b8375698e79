"""Five failed sign-ins of a name from an address lock the pair for a quarter of an hour."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from ipaddress import ip_network
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.urls import reverse

from desk.access import sign_in_tries
from desk.access.sign_in import LOCKED
from desk.models import SignInTry

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase of an operator"


@pytest.fixture(autouse=True)
def ada(db, settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick
    return User.objects.create_superuser("ada", password=PASSWORD)


def try_as(name, password="wrong", *, address="192.0.2.1", **headers):
    fields = {"username": name, "password": password}
    return Client().post(reverse("admin:login"), fields, REMOTE_ADDR=address, headers=headers)


def fail(name, *, times=5, **given):
    for _ in range(times):
        answer = try_as(name, **given)
        assert (answer.status_code, LOCKED in answer.content.decode()) == (200, False)


def is_in(answer):
    return answer.status_code == 302 and "sessionid" in answer.cookies


def is_locked(answer):
    return answer.status_code == 200 and LOCKED in answer.content.decode() and "sessionid" not in answer.cookies


def grow_older(**by):
    SignInTry.objects.update(at=F("at") - timedelta(**by))


def without_tokens(answer):
    return [line for line in answer.content.decode().splitlines() if "csrfmiddlewaretoken" not in line]


def test_after_five_failures_the_right_password_is_refused_too():
    fail("ada", times=4)
    assert is_in(try_as("ada", PASSWORD))
    fail("ada", times=1)
    assert is_locked(try_as("ada", PASSWORD))


def test_unknown_names_are_locked_alike_and_get_the_same_answers():
    for _ in range(7):
        known, unknown = (without_tokens(try_as(name)) for name in ("ada", "eve"))
        assert known == [line.replace('value="eve"', 'value="ada"') for line in unknown]
    assert is_locked(try_as("eve", PASSWORD))


def test_right_passwords_that_are_still_checked_lock_nobody(rf):
    request = rf.get("/", REMOTE_ADDR="192.0.2.1")
    tries = [sign_in_tries.begin(request, "ada") for _ in range(5)]
    for right in tries[:4]:
        sign_in_tries.withdraw(right)
    fail("ada", times=4)  # with the one that is left these are five
    assert is_locked(try_as("ada", PASSWORD))


def test_a_sign_in_leads_to_pages_of_ours_only():
    fields = {"username": "ada", "password": PASSWORD, "next": "//elsewhere.example/"}
    assert Client().post(reverse("admin:login"), fields).headers["Location"] == reverse("admin:index")


def test_other_names_and_other_addresses_are_not_locked():
    User.objects.create_superuser("bob", password=PASSWORD)
    fail("ada")
    assert is_in(try_as("bob", PASSWORD))
    assert is_in(try_as("ada", PASSWORD, address="192.0.2.2"))
    assert is_in(try_as("ada", PASSWORD, address="2001:db8::1"))


def test_the_addresses_of_one_ipv6_network_are_one():
    for last in range(5):
        fail("ada", times=1, address=f"2001:db8:0:1::{last}")
    assert is_locked(try_as("ada", PASSWORD, address="2001:db8:0:1:ffff::1"))
    assert is_in(try_as("ada", PASSWORD, address="2001:db8:0:2::1"))


def test_a_lock_lasts_a_quarter_of_an_hour_from_the_fifth_failure():
    fail("ada", times=1)
    grow_older(minutes=14)
    fail("ada", times=4)
    grow_older(minutes=14)
    assert is_locked(try_as("ada", PASSWORD))
    grow_older(minutes=1)
    assert is_in(try_as("ada", PASSWORD))


def test_tries_during_a_lock_do_not_make_it_longer():
    fail("ada")
    for _ in range(5):
        assert is_locked(try_as("ada"))
    grow_older(minutes=15)
    fail("ada", times=1)


def test_failures_count_for_a_quarter_of_an_hour():
    fail("ada", times=4)
    grow_older(minutes=15)
    fail("ada", times=4)
    assert is_in(try_as("ada", PASSWORD))


def test_a_name_counts_as_the_sign_in_compares_it():
    User.objects.create_superuser("ff", password=PASSWORD)
    fail("\N{LATIN SMALL LIGATURE FF}", times=3)
    fail("ff", times=2)
    assert is_locked(try_as("\N{LATIN SMALL LIGATURE FF}", PASSWORD))
    fail("FF", times=1)


def test_who_may_not_come_in_learns_nothing_of_a_right_password():
    User.objects.create_user("customer", password=PASSWORD)
    fail("customer", password=PASSWORD)
    assert is_locked(try_as("customer", PASSWORD))


def test_behind_a_trusted_proxy_its_clients_are_told_apart(settings):
    settings.TRUSTED_PROXIES = (ip_network("192.0.2.1/32"),)
    for spoofed in range(5):
        fail("ada", times=1, **{"X-Forwarded-For": f"6.6.6.{spoofed}, 198.51.100.1"})
    assert is_locked(try_as("ada", PASSWORD, **{"X-Forwarded-For": "198.51.100.1"}))
    assert is_in(try_as("ada", PASSWORD, **{"X-Forwarded-For": "198.51.100.2"}))


def test_an_untrusted_peer_forwards_nobody():
    for spoofed in range(5):
        fail("ada", times=1, **{"X-Forwarded-For": f"6.6.6.{spoofed}"})
    assert is_locked(try_as("ada", PASSWORD))


def test_who_guesses_the_old_password_of_a_session_is_locked_too(ada):
    client = Client(REMOTE_ADDR="192.0.2.1")
    client.force_login(ada)
    fields = {"old_password": "wrong", "new_password1": "some new phrase", "new_password2": "some new phrase"}
    for _ in range(5):
        client.post(reverse("admin:password_change"), fields)
    answer = client.post(reverse("admin:password_change"), {**fields, "old_password": PASSWORD})
    assert LOCKED in answer.content.decode()
    assert is_locked(try_as("ada", PASSWORD))


def test_the_table_does_not_grow_with_the_names_that_are_tried(monkeypatch):
    monkeypatch.setattr(sign_in_tries, "MOST_TRIES", 4)
    for number in range(6):
        fail(f"name-{number}", times=1)
    assert SignInTry.objects.count() == 4
    grow_older(minutes=15)
    fail("ada", times=1)
    assert SignInTry.objects.count() == 1


def test_neither_names_nor_addresses_are_kept_in_plain():
    fail("my-password-by-mistake", times=1)
    assert "my-password" not in str(SignInTry.objects.values().get())


@pytest.mark.django_db(transaction=True)
def test_parallel_tries_are_five_as_well():
    start = Barrier(10)

    def attempt(_):
        try:
            start.wait()
            return is_locked(try_as("ada"))
        finally:
            connection.close()

    with ThreadPoolExecutor(10) as threads:
        locked = list(threads.map(attempt, range(10)))
    assert sorted(locked) == [False] * 5 + [True] * 5
    assert SignInTry.objects.count() == 5
