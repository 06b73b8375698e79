"""A session ends twelve hours after its sign-in, used or not."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase of an operator"


@pytest.fixture
def ada():
    return User.objects.create_superuser("ada", password=PASSWORD)


def sign_in(client):
    client.post(reverse("admin:login"), {"username": "ada", "password": PASSWORD})


def change_password(client):
    new = "quite another phrase"
    fields = {"old_password": PASSWORD, "new_password1": new, "new_password2": new}
    assert client.post(reverse("admin:password_change"), fields).status_code == 302


def is_in(client):
    return client.get(reverse("admin:index")).status_code == 200


def grow_older(**by):
    """Move the ends of all sessions nearer, as time does."""
    Session.objects.update(expire_date=F("expire_date") - timedelta(**by))


def test_a_session_ends_twelve_hours_after_the_sign_in(client, ada):
    sign_in(client)
    grow_older(hours=11, minutes=59)
    assert is_in(client)
    grow_older(minutes=2)
    assert not is_in(client)


def test_using_a_session_makes_it_no_longer(client, ada):
    sign_in(client)
    before = Session.objects.get().expire_date
    session = client.session
    session["used"] = True
    session["signed_in_at"] -= 3600
    session.save()
    assert Session.objects.get().expire_date == before


def test_a_new_sign_in_and_a_changed_password_begin_anew(client, ada):
    sign_in(client)
    for begin in (lambda: sign_in(client), lambda: change_password(client)):
        grow_older(hours=6)
        begin()
        assert Session.objects.get().expire_date > timezone.now() + timedelta(hours=11)


def test_a_session_from_before_there_was_this_rule_has_ended(client, ada):
    sign_in(client)
    older = db.SessionStore(client.session.session_key)
    del older["signed_in_at"]
    older.save()
    assert not is_in(client)
