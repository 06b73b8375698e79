"""What the front has let in, the view does not ask for again; and it takes no other request's admission."""

import asyncio

from common.concurrency import threads
from common.concurrency.gathering import Gathering
from common.errors import AuthenticationError
from tasks.gate import Knock
from tasks_api import admissions
from tasks_api.admissions import Handed

REFUSED = AuthenticationError(headers={"WWW-Authenticate": "Bearer"})


def handed(idempotency_key: str | None = None) -> dict[str, Handed]:
    """What says of a good key that it does not open."""
    knock = Knock(authorization="", idempotency_key=idempotency_key)
    return {admissions.HANDED: Handed(knock=knock, outcome=REFUSED)}


def test_a_view_takes_the_admission_that_it_is_handed(client_for, key):
    assert client_for(key).get("/v1/tasks", **handed()).status_code == 401


def test_an_admission_that_asked_for_another_idempotency_key_is_asked_for_again(client_for, key, image_model):
    answer = client_for(key).post(
        "/v1/tasks", b"{", "application/json", headers={"Idempotency-Key": "a"}, **handed("b")
    )
    assert answer.status_code == 400


def test_strangers_of_many_keys_have_one_turn_beside_an_account(monkeypatch):
    groups, begin = [], []

    def admit_all(knocks):
        groups.append([knock.authorization for knock in knocks])
        return knocks

    async def knock(name: str, share: threads.Share) -> None:
        threads.share.set(share)
        await admissions.admit(Knock(authorization=name))

    async def crowd() -> None:
        shares = {name: threads.of_nobody("strangers", name) for name in "abcd"} | {"known": threads.of_account(1)}
        tasks = [asyncio.create_task(knock(name, share)) for name, share in shares.items()]
        await asyncio.sleep(0)  # all have knocked
        begin[0]()
        await asyncio.gather(*tasks)

    monkeypatch.setattr(admissions, "_knocks", Gathering(admit_all, start=begin.append, most=2))
    asyncio.run(crowd())
    assert groups == [["a", "known"], ["b", "c"], ["d"]]
