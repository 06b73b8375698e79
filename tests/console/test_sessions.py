"""Signing in to the console with a key: what opens a session, what it opens, and when it ends."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts import keys
from common.concurrency import threads
from console import sessions
from console.models import Session
from front.application import share_of
from tests.rows import make_key

SIGN_IN = "/console/sign-in/"


def test_the_root_leads_to_the_console_and_that_to_its_entrance(db, client):
    answer = client.get("/", follow=True)
    assert answer.redirect_chain[-1][0].startswith(SIGN_IN)
    assert "Sign in with your key" in answer.content.decode()


def test_a_key_opens_a_session_whose_row_and_cookie_hold_no_secret(key, client):
    answer = client.post(SIGN_IN, {"key": f" {key.secret}\n"})
    cookie = answer.cookies[sessions.COOKIE]
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/console")
    row = Session.objects.get()
    assert (row.key_id, row.secret_id) == (key.id, key.record.secrets.get().pk)
    kept = [str(value) for value in Session.objects.values_list().get()]
    assert not {key.secret, cookie.value} & set(kept)
    page = client.get("/console/create/")
    assert page.status_code == 200
    assert page.headers["Cache-Control"] == "no-store"
    assert key.secret not in page.content.decode()


@pytest.mark.parametrize(
    ("given", "status"),
    [("", 200), ("dr-task-" + "x" * 43, 401), ("é" * 50, 200), ("x" * 201, 200), ("two words", 401)],
    ids=["nothing", "unknown", "no-ascii", "too-long", "blank"],
)
def test_what_is_no_key_is_told_so_at_the_field_and_never_shown_again(db, client, given, status):
    answer = client.post(SIGN_IN, {"key": given})
    text = answer.content.decode()
    assert answer.status_code == status
    assert 'aria-invalid="true"' in text
    assert 'role="alert"' in text
    assert not given or given not in text
    assert not Session.objects.exists()


def test_a_key_of_another_kind_is_refused_in_words(account, client):
    general = make_key(account, "general", binding="general")
    answer = client.post(SIGN_IN, {"key": general.secret})
    assert answer.status_code == 403
    assert not Session.objects.exists()


def disable(key):
    keys.disable(key.record)


def retire(key):
    key.record.secrets.update(retired_at=timezone.now())


def delete(key):
    key.record.secrets.all().delete()


def expire(key):
    key.record.expires_at = timezone.now() - timedelta(seconds=1)
    key.record.save()


def end_the_session(key):
    Session.objects.update(expires_at=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize("change", [disable, retire, delete, expire, end_the_session])
def test_a_session_opens_what_its_secret_opens_at_each_request(key, visitor, change):
    assert visitor.get("/console/live/").status_code == 200
    change(key)
    answer = visitor.get("/console/live/?status=running")
    assert answer.status_code == 302
    assert answer.headers["Location"] == f"{SIGN_IN}?next=%2Fconsole%2Flive%2F%3Fstatus%3Drunning"
    refusal = visitor.get("/console/live/", headers={"Accept": "application/json"})
    assert (refusal.status_code, refusal.json()["error"]["type"]) == (401, "authentication_error")


def test_signing_out_ends_the_session_for_every_copy_of_its_cookie(key, visitor):
    copy = Client()
    copy.cookies[sessions.COOKIE] = visitor.cookies[sessions.COOKIE].value
    assert copy.get("/console/create/").status_code == 200
    assert visitor.post("/console/sign-out/").headers["Location"] == SIGN_IN
    assert copy.get("/console/create/").status_code == 302
    assert not Session.objects.exists()


@pytest.mark.parametrize(
    ("wanted", "led"),
    [
        ("/console/usage/?month=2026-10", "/console/usage/?month=2026-10"),
        ("https://elsewhere.example/console/", "/console/"),
        ("//elsewhere.example/console/", "/console/"),
        ("/admin/", "/console/"),
    ],
    ids=["ours", "elsewhere", "elsewhere-without-scheme", "desk"],
)
def test_after_signing_in_one_is_where_one_wanted_to_be(key, client, wanted, led):
    form = client.get(SIGN_IN, {"next": wanted}).content.decode()
    assert re.search(r'name="next"', form)
    assert client.post(SIGN_IN, {"key": key.secret, "next": wanted}).headers["Location"] == led


def test_a_form_of_elsewhere_signs_nobody_in_or_out(key):
    strict = Client(enforce_csrf_checks=True)
    assert strict.post(SIGN_IN, {"key": key.secret}).status_code == 403
    assert strict.post("/console/sign-out/").status_code == 403


def test_a_browser_that_signs_in_again_has_one_session(key, other_key, visitor):
    first = visitor.cookies[sessions.COOKIE].value
    visitor.post(SIGN_IN, {"key": other_key.secret})
    assert Session.objects.get().key_id == other_key.id
    assert visitor.cookies[sessions.COOKIE].value != first


def test_sessions_that_are_over_are_gone_at_the_next_sign_in(key, sign_in):
    sign_in(key)
    end_the_session(key)
    sign_in(key)
    assert Session.objects.count() == 1


def test_a_foreign_task_is_as_unknown_as_none(visitor, other_key):
    answer = visitor.get("/console/tasks/task_01m83y8vzq3pjgrw82c5571hra/")
    assert answer.status_code == 404
    assert "There is nothing here" in answer.content.decode()
    assert visitor.get("/console/nowhere/").status_code == 404


def test_a_session_takes_its_accounts_share_of_the_process(key, visitor):
    token = visitor.cookies[sessions.COOKIE].value
    scope = {"path": "/console/live/", "headers": [(b"cookie", f"{sessions.COOKIE}={token}".encode())]}
    assert share_of(scope).payer != key.account.pk
    visitor.get("/console/live/")
    assert share_of(scope) == threads.of_account(key.account.pk)
