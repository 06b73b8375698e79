"""Whose share a request takes, and that nobody waits behind somebody else's requests."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from accounts import authentication
from accounts.authentication import admit
from common.bounded_cache import BoundedCache
from common.concurrency import threads
from front import companions
from front.application import share_of
from relay.admission import admit_all
from tests.relay.general import make_general_key
from tests.scopes import scope
from tools.children import PATIENCE, wait_until


@pytest.mark.django_db
def test_a_key_that_has_opened_takes_its_accounts_share(key):
    request = scope("GET", "/v1/tasks", authorization=f"Bearer {key.secret}")
    authentication.forget_holders()
    assert share_of(request).payer == "strangers"
    admit(f"Bearer {key.secret}")
    assert share_of(request) == threads.of_account(key.account.pk)


@pytest.mark.django_db
def test_so_does_a_general_key_wherever_it_stands(account):
    secret = make_general_key(account, None).secret
    for query, headers in (("", {"x_api_key": secret}), ("", {"x_goog_api_key": secret}), (f"key={secret}", {})):
        request = scope("POST", "/v1beta/models/gem-1:generateContent", query, **headers)
        companions.bring_key(request)
        authentication.forget_holders()
        assert share_of(request).payer == "strangers"
        admit_all([f"Bearer {secret}"])
        assert share_of(request) == threads.of_account(account.pk)


def test_others_share_by_what_they_ask_for():
    for path, payer in (("/v1/tasks", "strangers"), ("/admin/login/", "desk"), ("/assets/x/0.png", "links")):
        assert share_of(scope("GET", path)).payer == payer


def test_strangers_take_turns_by_their_secret_else_by_their_address():
    one, other = (scope("GET", "/", authorization=f"Bearer {secret}") for secret in ("a", "b"))
    assert share_of(one) != share_of(other)
    assert share_of({**scope("GET", "/"), "client": ("10.0.0.1", 1)}).member == "10.0.0.1"


def test_only_the_latest_holders_are_remembered(monkeypatch):
    monkeypatch.setattr(authentication, "_holders", BoundedCache(2))
    for digest in ("a", "b", "a", "c"):
        authentication.remember(digest, key_id=1, account_id=1)
    assert [authentication.holder_of(digest) is not None for digest in "abc"] == [True, False, True]


def test_one_accounts_slow_requests_do_not_hold_up_another_account(front):
    greedy, other = (front.client(front.create_key(account=name)) for name in ("greedy", "other"))
    for client in (greedy, other):
        assert client.get("/v1/tasks").status_code == 200
    with ThreadPoolExecutor(4 * threads.THREADS) as crowd:
        held = [crowd.submit(greedy.get, "/v1/held") for _ in range(2 * threads.THREADS)]
        try:
            wait_until(lambda: front.logs().count('"tests.held"') >= threads.THREADS // 2)
            assert other.get("/v1/echo").status_code == 200
        finally:
            other.get("/v1/release")
        assert {answer.result(PATIENCE).text for answer in held} == {"True"}
