"""Money and secrets ask for the password again, a quarter of an hour after it was given."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from accounts import keys
from billing.models import LedgerEntry
from desk.access.sign_in import LOCKED
from tests.desk.sensitive import CREDIT, DEEDS, SECRET, make_rows

pytestmark = pytest.mark.django_db

PASSWORD = "a long pass phrase of an operator"
A_QUARTER = 15 * 60


@pytest.fixture
def ada(settings):
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # quick
    return User.objects.create_superuser("ada", password=PASSWORD)


@pytest.fixture
def stale(ada, acme_key, image_channel):
    """A browser of hers that signed in a quarter of an hour ago; there is a row for every deed."""
    make_rows(image_channel)
    keys.disable(acme_key.record)
    client = Client()
    client.force_login(ada)
    wait(client, A_QUARTER)
    return client


def wait(client, seconds):
    session = client.session
    for name in {"signed_in_at", "proved_at"} & set(session.keys()):
        session[name] -= seconds
    session.save()


def is_asked(answer):
    return answer.status_code == 200 and 'name="proof-password"' in answer.content.decode()


def prove(client, answer, password=PASSWORD):
    """Fill in the page that asks, as a browser would."""
    page = answer.content.decode()
    sent = re.search(r'name="proof-sent"(?: value="([^"]*)")?', page)[1] or ""
    action = re.search(r'<form method="post" action="([^"]*)"', page)[1]
    return client.post(action, {"proof-password": password, "proof-sent": sent})


@pytest.mark.parametrize("name", DEEDS)
def test_what_moves_money_or_secrets_waits_for_the_password_and_goes_on_with_it(stale, name):
    deed = DEEDS[name]
    asked = deed.attempt(stale)
    assert is_asked(asked)
    assert not deed.is_done()
    assert SECRET not in asked.content.decode()
    assert not is_asked(prove(stale, asked))
    assert deed.is_done()


@pytest.mark.parametrize("name", DEEDS)
def test_a_fresh_password_is_not_asked_for(stale, name):
    wait(stale, 60 - A_QUARTER)
    assert not is_asked(DEEDS[name].attempt(stale))
    assert DEEDS[name].is_done()


def test_a_form_is_asked_for_before_it_is_filled_in(stale):
    form = DEEDS["credit"].page()
    asked = stale.get(form)
    assert is_asked(asked)
    answer = prove(stale, asked)
    assert (answer.status_code, answer.url) == (302, form)
    assert 'name="amount"' in stale.get(form).content.decode()


def test_a_proof_is_good_for_a_quarter_of_an_hour(stale):
    prove(stale, stale.get(DEEDS["credit"].page()))
    wait(stale, A_QUARTER - 60)
    assert not is_asked(stale.get(DEEDS["credit"].page()))
    wait(stale, 60)
    assert is_asked(stale.get(DEEDS["credit"].page()))


def test_a_proof_makes_no_session_longer(stale):
    before = stale.session.get_expiry_date()
    prove(stale, stale.get(DEEDS["credit"].page()))
    assert stale.session.get_expiry_date() == before


def test_a_wrong_password_asks_again_and_loses_nothing(stale):
    asked = prove(stale, DEEDS["credit"].attempt(stale), "wrong")
    assert is_asked(asked)
    assert "not your password" in asked.content.decode()
    assert not DEEDS["credit"].is_done()
    prove(stale, asked)
    assert DEEDS["credit"].is_done()


def test_wrong_passwords_are_failed_sign_ins(stale):
    asked = DEEDS["credit"].attempt(stale)
    for _ in range(5):
        assert LOCKED not in prove(stale, asked, "wrong").content.decode()
    assert LOCKED in prove(stale, asked).content.decode()
    assert not DEEDS["credit"].is_done()


def test_the_password_of_somebody_else_proves_nothing(stale):
    User.objects.create_superuser("bob", password="bob's own pass phrase")
    assert is_asked(prove(stale, DEEDS["credit"].attempt(stale), "bob's own pass phrase"))


def test_what_was_sent_goes_on_for_its_sender_and_address_only(stale, ada):
    asked = DEEDS["credit"].attempt(stale).content.decode()
    sent = re.search(r'name="proof-sent" value="([^"]*)"', asked)[1]
    ours = {"proof-password": PASSWORD, "proof-sent": sent}
    assert stale.post(DEEDS["issue"].page(), ours).status_code == 400
    assert stale.post(DEEDS["credit"].page(), ours | {"proof-sent": sent[:-9]}).status_code == 400
    other = Client()
    other.force_login(User.objects.create_superuser("bob", password=PASSWORD))
    assert other.post(DEEDS["credit"].page(), ours).status_code == 400
    assert not LedgerEntry.objects.filter(reference=CREDIT["reference"]).exists()


def test_looking_asks_for_nothing(stale):
    for name in ("credential", "group's channel", "enable", "channels' end"):
        assert not is_asked(stale.get(DEEDS[name].page())), name


def test_users_are_not_deleted_and_with_them_their_history(stale, ada):
    assert stale.post(f"/admin/auth/user/{ada.pk}/delete/", {"post": "yes"}).status_code == 403
    stale.post("/admin/auth/user/", {"action": "delete_selected", "_selected_action": str(ada.pk), "post": "yes"})
    assert User.objects.exists()
