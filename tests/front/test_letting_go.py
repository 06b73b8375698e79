"""Who refuses lets go: while a refusal is being sent nothing is held of a body, and no search for cycles is needed."""

import asyncio
import gc
import tracemalloc
from collections.abc import Iterator

import pytest

from catalog.models import GroupChannel
from common.http import spool, unfolding
from common.http.asgi import Message
from front import application
from tests.faults import refusals
from tests.faults.refusals import Refused
from tests.relay.general import make_general_key, make_group
from tests.rows import make_account, make_channel, make_key
from tests.scopes import scope
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)
SIZE = 2 * 1024 * 1024


@pytest.fixture
def counted() -> Iterator[None]:
    """All memory is, and cycles stay where they are."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.enable()


def status_of(request: Refused, secret: str, *, is_slow: bool = False) -> int:
    """The answer's. A slow client takes it only once its body is let go of."""
    statuses: list[int] = []
    body = [request.body(SIZE)]
    asked = scope("POST", request.path, authorization=f"Bearer {secret}", content_type=request.content_type)

    async def receive() -> Message:
        return {"type": "http.request", "body": body.pop()} if body else await asyncio.Future()

    async def send(message: Message) -> None:
        statuses.append(message.get("status", 0))
        while is_slow and tracemalloc.get_traced_memory()[0] > most:
            await asyncio.sleep(0.01)

    most = tracemalloc.get_traced_memory()[0] - SIZE + SIZE // 4
    asyncio.run(asyncio.wait_for(application.application(asked, receive, send), PATIENCE))
    return statuses[0]


def assert_let_go(request: Refused, secret: str) -> None:
    status_of(request, secret)  # what is loaded and remembered at the first time is
    assert status_of(request, secret, is_slow=True) == request.status
    assert (spool.spool.held, unfolding.memory.total) == ({}, 0)


@pytest.mark.parametrize("request_", refusals.RELAYED, ids=lambda request: request.name)
def test_a_refused_call_leaves_nothing_of_its_body(request_, counted):
    group = make_group("text", image_generation=True, **refusals.PRICES)
    channel = make_channel("text-1", "openai_relay", "http://127.0.0.1:9/v1")
    GroupChannel.objects.create(group=group, channel=channel, dialects=["messages"])
    assert_let_go(request_, make_general_key(make_account("poor", usd="0.01"), group).secret)


@pytest.mark.parametrize("request_", refusals.TASKS, ids=lambda request: request.name)
def test_a_refused_task_leaves_nothing_of_its_body(request_, counted, image_model, video_model):
    assert_let_go(request_, make_key(make_account("poor", usd="0.01")).secret)
