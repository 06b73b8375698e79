"""General keys that have called before: what changes meanwhile holds from the next call on, through the front."""

import asyncio
import json
from typing import Any

import pytest

from accounts import keys
from accounts.models import Account
from billing import budgets
from billing.models import RelayedCall
from catalog.models import GroupOffer
from common.http import rates
from common.http.asgi import Message
from front import application
from tasks import ledger_check
from tests.relay.calling import CHAT, Relay, chat, completion
from tests.relay.general import make_group
from tests.relay.upstreams import Upstream, answers
from tests.scopes import scope
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


class Caller:
    """A general key whose calls go through the whole front to one upstream."""

    def __init__(self, account: Account) -> None:
        self.relay = Relay(account)
        self.upstream = Upstream(answers(completion()))
        self.relay.channel(self.upstream)

    def status(self, body: Any = None) -> int:
        return int(self._asked(body)[0]["status"])

    def refusal(self) -> str:
        """The type of the error."""
        return str(json.loads(self._asked()[1]["body"])["error"]["type"])

    def _asked(self, body: Any = None) -> list[Message]:
        return list(self.relay.run(lambda: self._ask(chat() if body is None else body)))

    async def _ask(self, body: Any) -> list[Message]:
        given = {"authorization": f"Bearer {self.relay.key.secret}", "content_type": "application/json"}
        pieces = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
        sent: list[Message] = []

        async def receive() -> Message:
            return pieces.pop(0) if pieces else await asyncio.Future()

        async def send(message: Message) -> None:
            sent.append(message)

        async with asyncio.timeout(PATIENCE):
            await application.application(scope("POST", CHAT, **given), receive, send)
        return sent


@pytest.fixture
def caller(account: Account) -> Caller:
    """He has called once."""
    found = Caller(account)
    assert found.status() == 200
    return found


def disable(caller: Caller) -> None:
    keys.disable(caller.relay.key.record)


def leave_the_group(caller: Caller) -> None:
    caller.relay.key.record.group = make_group("pictures", "gemini")
    caller.relay.key.record.save()


def become_a_subscriber(caller: Caller) -> None:
    Account.objects.update(billing="subscription")


def spend_all(caller: Caller) -> None:
    Account.objects.update(held_micros=10_000_000)


def set_no_budget(caller: Caller) -> None:
    budgets.set_limits(caller.relay.key.record, day_micros=0, month_micros=None)


@pytest.mark.parametrize(
    ("change", "status"),
    [(disable, 401), (leave_the_group, 404), (become_a_subscriber, 403), (spend_all, 429), (set_no_budget, 429)],
)
def test_a_change_holds_from_the_next_call_on(caller, change, status) -> None:
    change(caller)
    assert [caller.status() for _ in range(2)] == [status] * 2
    assert (len(caller.upstream.requests), RelayedCall.objects.count()) == (1, 1)


def test_new_prices_hold_from_the_next_call_on(caller) -> None:
    GroupOffer.objects.get().delete()
    GroupOffer.objects.create(group=caller.relay.group, prices={"gpt-*": {"input": 4, "output": 16}})
    assert [caller.status() for _ in range(2)] == [200] * 2
    assert caller.relay.spent == 280 + 2 * 560


def test_refused_calls_count_against_the_rate(caller, settings, monkeypatch) -> None:
    settings.RATE_LIMITS = {"relay": 2}
    monkeypatch.setattr(rates, "_window", -1)
    Account.objects.update(held_micros=10_000_000)
    assert [caller.refusal() for _ in range(3)] == ["insufficient_quota", "insufficient_quota", "rate_limit_error"]


def test_a_bad_body_of_who_was_let_in_before_is_refused_behind_his_key(caller) -> None:
    assert caller.status({"model": 7}) == 400
    disable(caller)
    assert caller.status({"model": 7}) == 401
    assert not ledger_check.check().breaches
