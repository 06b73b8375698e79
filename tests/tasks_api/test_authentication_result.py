"""What the front has found of a request's key, its view does not ask for again."""

import asyncio
from typing import Any

from django.test import RequestFactory

from accounts.authentication import Credentials
from common.concurrency import threads
from common.concurrency.gathering import Gathering
from common.errors import AuthenticationError
from tasks_api import authentication
from tasks_api.authentication import AuthResult
from tasks_api.submissions import TasksView

REFUSED = AuthenticationError(headers={"WWW-Authenticate": "Bearer"})


def test_a_view_takes_what_the_front_has_found(key):
    request: Any = RequestFactory().get("/v1/tasks", headers={"Authorization": f"Bearer {key.secret}"})
    assert TasksView.as_view()(request).status_code == 200
    request.auth_result = AuthResult(outcome=REFUSED)
    assert TasksView.as_view()(request).status_code == 401


def test_strangers_of_many_keys_have_one_turn_beside_an_account(monkeypatch):
    groups, begin = [], []

    def admit_all(asked):
        groups.append([credentials.digest for credentials in asked])
        return asked

    async def present(name: str, share: threads.Share) -> None:
        threads.share.set(share)
        await authentication.admit(Credentials(digest=name))

    async def crowd() -> None:
        shares = {name: threads.of_nobody("strangers", name) for name in "abcd"} | {"known": threads.of_account(1)}
        tasks = [asyncio.create_task(present(name, share)) for name, share in shares.items()]
        await asyncio.sleep(0)  # all have come
        begin[0]()
        await asyncio.gather(*tasks)

    monkeypatch.setattr(authentication, "_waiting", Gathering(admit_all, start=begin.append, most=2))
    asyncio.run(crowd())
    assert groups == [["a", "known"], ["b", "c"], ["d"]]
