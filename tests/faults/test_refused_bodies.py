"""Refused bodies pass through a web process, which lets go of them: its memory stays bounded, whoever sends them."""

from collections.abc import Iterable
from functools import partial

import pytest

from catalog.models import GroupChannel
from tests.faults import refusals
from tests.faults.refusals import Refused
from tests.faults.scenes import serving
from tests.processes import TestStack
from tests.relay.general import make_general_key, make_group
from tests.rows import make_account, make_channel, make_key
from tests.tasks import steps
from tools.children import Child

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]
LARGEST, AT_ONCE, ROUNDS = 32 * 1024 * 1024, 8, 13
MOST_BYTES = 1024**3


@pytest.fixture
def web(start_web, image_model, video_model) -> Child:
    return start_web()


@pytest.fixture
def general_secret(db: None) -> str:
    group = make_group("text", image_generation=True, **refusals.PRICES)
    channel = make_channel("text-1", "openai_relay", "http://127.0.0.1:9/v1")
    GroupChannel.objects.create(group=group, channel=channel, dialects=["messages"])
    return make_general_key(make_account("poor caller", usd="0.01"), group).secret


@pytest.fixture
def task_secret(db: None) -> str:
    return make_key(make_account("poor customer", usd="0.01")).secret


def most_bytes(web: Child) -> int:
    """The most memory that the process has had resident."""
    with open(f"/proc/{serving(web).pid}/status") as status:
        (line,) = [line for line in status if line.startswith("VmHWM:")]
    return int(line.split()[1]) * 1024


def sent_in_rounds(crew: TestStack, secret: str, requests: Iterable[Refused]) -> None:
    """Each is sent by eight clients at once, again and again, and refused as it should be."""
    for request in requests:
        body = request.body(LARGEST)
        ask = partial(refusals.sent, int(crew.environment["PORT"]), secret, request, body)
        assert set(steps.at_once([ask] * AT_ONCE)) == {request.status}, request.name


def test_a_hundred_refused_bodies_of_relayed_calls_leave_no_gigabyte(crew, web, general_secret):
    rounds = refusals.RELAYED * 2
    sent_in_rounds(crew, general_secret, rounds[:ROUNDS])
    assert most_bytes(web) < MOST_BYTES


def test_a_hundred_refused_bodies_of_tasks_leave_no_gigabyte(crew, web, task_secret):
    rounds = refusals.TASKS * 2
    sent_in_rounds(crew, task_secret, rounds[:ROUNDS])
    assert most_bytes(web) < MOST_BYTES
