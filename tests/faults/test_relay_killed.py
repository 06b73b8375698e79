"""SIGKILL to a web process at every step of a relayed call: the books are right, and no reservation stays open."""

import json
import socket
import threading
from collections.abc import Callable
from contextlib import ExitStack, closing

import pytest

from billing.models import RelayedCall
from catalog.models import GroupChannel
from common import sql
from tests.adapters.raw_server import RawServer, raw_server
from tests.faults.scenes import held, kill_serving, waits_for
from tests.relay.general import make_general_key, make_group
from tests.rows import IssuedKey, make_channel
from tests.tasks import steps
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
SETTINGS = {"DJANGO_SETTINGS_MODULE": "tests.faults.patient_settings"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
PRICES = {"gpt-*": {"input": "2", "output": "8"}}
USAGE = {"prompt_tokens": 100, "completion_tokens": 5, "total_tokens": 105}  # 240 micro-USD


def event(text: str, **told: object) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
    return b"data: " + json.dumps({"id": "c", "choices": [choice], **told}).encode() + b"\n\n"


# What the upstream says, and no more, by the word in the prompt.
SAID = {
    b"silent": b"",
    b"begun": HEAD + event("Hello"),
    b"told": HEAD + event("Hello", usage=USAGE),
    b"whole": HEAD + event("Hello", usage=USAGE),
}


class Upstream:
    """Ends a whole answer when it may."""

    def __init__(self) -> None:
        self.may_end = threading.Event()

    def __call__(self, connection: socket.socket, request: bytes) -> None:
        connection.sendall(next(said for word, said in SAID.items() if word in request))
        if b"whole" in request and self.may_end.wait(PATIENCE):
            connection.sendall(b"data: [DONE]\n\n")
        while connection.recv(65536):
            pass


@pytest.fixture
def upstream() -> Upstream:
    return Upstream()


@pytest.fixture
def provider(crew, upstream):
    with raw_server(upstream) as server:
        yield server


@pytest.fixture
def key(account, provider: RawServer) -> IssuedKey:
    group = make_group("text", prices=PRICES)
    GroupChannel.objects.create(group=group, channel=make_channel("text-1", "openai_relay", f"{provider.url}/v1"))
    return make_general_key(account, group)


@pytest.fixture
def killed(crew, start_web, key) -> Callable[..., None]:
    """Makes a call with this prompt, and kills the process that serves it once what is awaited is so."""
    web = start_web(**SETTINGS)

    def kill(prompt: str, awaited: Callable[[], object]) -> None:
        web.wait_for_http(f"{web.url}/healthz")
        message = {"model": "gpt-5", "stream": True, "messages": [{"role": "user", "content": prompt}]}
        body = json.dumps(message).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key.secret}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        with closing(socket.create_connection(("127.0.0.1", int(crew.environment["PORT"])), PATIENCE)) as client:
            client.sendall(head.encode() + body)
            wait_until(awaited, what=prompt)
            kill_serving(web)

    return kill


def test_killed_at_any_step_a_call_is_settled_by_what_was_seen_or_released(
    killed, provider, upstream, start_worker, key
):
    calls = RelayedCall.objects.order_by("id")
    with held("billing_hold"):
        killed("silent", lambda: waits_for("billing_hold"))
    assert (provider.requests, calls.count()) == ([], 0)
    killed("silent", lambda: len(provider.requests) == 1)
    killed("begun", lambda: len(provider.requests) == 2)
    killed("told", lambda: calls.filter(noted_micros=240).exists())
    with ExitStack() as books:

        def end_waits() -> bool:
            if len(provider.requests) == 4 and not upstream.may_end.is_set():
                books.enter_context(held("billing_ledgerentry"))
                upstream.may_end.set()
            return upstream.may_end.is_set() and waits_for("billing_ledgerentry")

        killed("whole", end_waits)
    assert steps.breaches() == []
    sql.run(f"UPDATE billing_webprocess SET heartbeat_at = {sql.later('%s')}", [-3600])
    start_worker("--lanes", "janitor")
    wait_until(lambda: not calls.filter(state="open").exists(), what="the end of all calls")
    assert [(call.state, call.actual_micros, call.is_loss) for call in calls[:3]] == [
        ("released", None, True),
        ("released", None, True),
        ("settled", 240, False),
    ]
    last = calls[3]
    assert (last.state, last.actual_micros) in (("settled", 240), ("released", None))
    assert len(provider.requests) == calls.count() == 4
    assert steps.breaches() == []
    key.account.refresh_from_db()
    assert key.account.held_micros == 0
