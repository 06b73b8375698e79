"""Which bodies are read, and what they may occupy: through a real gunicorn, and in this process where it is counted."""

import asyncio
import http.client
import json
import socket
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.test import Client

from accounts.models import ApiKey
from common.http import spool
from common.http.asgi import Message
from common.http.spool import Room, SpoolFull
from front import application, doors
from tests.front.test_front import HOST, answer_to
from tests.relay.general import make_general_key, make_group
from tests.scopes import scope
from tools.children import PATIENCE

LARGE = 70_000


def head(path: str, *lines: str, method: str = "POST", length: int | None = LARGE) -> bytes:
    """The head of a request; without a length its body is chunked."""
    framing = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    text = "\r\n".join([f"{method} {path} HTTP/1.1", framing, "Content-Type: application/json", *lines])
    return text.encode() + b"\r\n" + HOST + b"\r\n"


def bearer(secret: str) -> str:
    return f"Authorization: Bearer {secret}"


@pytest.fixture(scope="module")
def secret(front) -> str:
    return front.create_key(account="sender of large bodies")


def test_a_large_body_is_not_asked_for_before_a_key_has_opened(dial):
    connection = dial(head("/v1/tasks", "Expect: 100-continue"))
    assert connection.recv(17) == b"HTTP/1.1 401 Unau"


def test_a_large_body_without_a_length_is_left_at_64_kilobytes(dial):
    connection = dial(head("/v1/tasks", length=None) + b"11170\r\n" + bytes(LARGE))  # the chunk, and no end
    assert answer_to(connection)[0] == 401


def test_a_key_that_opens_is_told_to_go_on(dial, secret):
    connection = dial(head("/v1/echo", "Expect: 100-continue", bearer(secret)))
    assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    connection.sendall(bytes(LARGE))
    assert json.loads(answer_to(connection)[1])["length"] == LARGE


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.django_db(transaction=True)
def test_a_request_that_announces_no_body_is_not_waited_for(method):
    async def asked() -> list[Message]:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        await asyncio.wait_for(application.application(scope(method, "/assets/x"), asyncio.Future, send), PATIENCE)
        return sent

    assert asyncio.run(asked())[0]["status"] == 403


def test_64_kilobytes_are_read_of_anybody(dial):
    connection = dial(head("/v1/echo", length=65_536) + bytes(65_536))
    assert json.loads(answer_to(connection)[1])["length"] == 65_536


def whole_answer(connection: socket.socket) -> tuple[int, bytes, set[tuple[str, str]]]:
    """Status, body and headers, less those that differ between any two answers."""
    with closing(http.client.HTTPResponse(connection)) as response:
        response.begin()
        found = {(name.lower(), value) for name, value in response.getheaders()}
        headers = {pair for pair in found if pair[0] not in ("x-request-id", "date")}
        return response.status, response.read(), headers


def test_a_large_body_is_refused_exactly_as_a_small_one(front, dial, secret):
    def both(path: str, *lines: str, method: str = "POST") -> int:
        large = whole_answer(dial(head(path, *lines, method=method)))
        small = whole_answer(dial(head(path, "Connection: close", *lines, method=method, length=2) + b"{}"))
        assert large == small, path
        return small[0]

    assert both("/v1/tasks") == both("/v1/tasks/quote", bearer("unheard-of")) == 401
    assert both("/v1/nothing") == both("/v1/tasks/a/b") == both("/v2/tasks", bearer(secret)) == 404
    assert both("/assets/x/0.png", method="GET") == 403
    assert both("/v1/tasks/events", method="GET") == both("/v1/tasks/x/assets/0", method="GET") == 401
    front.manage("disable_api")
    try:
        assert both("/v1/tasks", bearer(secret)) == both("/v1/tasks/a/b") == 503
    finally:
        front.manage("enable_api")


def test_a_key_that_is_disabled_while_its_body_comes_opens_nothing(front, dial):
    front.manage("create_account", "disabled meanwhile")
    made = front.manage_json("create_key", "disabled meanwhile")
    secret = made["key"]
    connection = dial(head("/v1/tasks", "Expect: 100-continue", bearer(secret)))
    assert connection.recv(25) == b"HTTP/1.1 100 Continue\r\n\r\n"
    front.manage("disable_key", str(made["id"]))
    connection.sendall(bytes(LARGE))
    assert answer_to(connection)[0] == 401


class Answer:
    """What a client in this process got."""

    def __init__(self, sent: list[Message]) -> None:
        start, *rest = sent
        self.status = start["status"]
        self.headers = {name.decode(): value.decode() for name, value in start["headers"]}
        self.error = json.loads(b"".join(message["body"] for message in rest))["error"]["type"]


def ask(
    request: dict[str, Any], chunks: Iterable[bytes] = (), *, leaves: bool = False, meanwhile=None
) -> Answer | None:
    """The front's answer to a request whose body comes in these pieces; None where nobody was left to answer."""
    pieces, sent = list(chunks), []

    async def receive() -> Message:
        if not pieces:
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        if meanwhile and not pieces:
            await sync_to_async(meanwhile)()
        return {"type": "http.request", "body": piece, "more_body": bool(pieces) or leaves}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(asyncio.wait_for(application.application(request, receive, send), PATIENCE))
    return Answer(sent) if sent else None


def post(secret: str, *, length: int | None = None) -> dict[str, Any]:
    declared = {} if length is None else {"content_length": str(length)}
    return scope("POST", "/v1/tasks", authorization=f"Bearer {secret}", content_type="application/json", **declared)


@pytest.fixture
def quarter(settings, transactional_db) -> Iterator[int]:
    settings.MAX_SPOOL_BYTES = 4 * 100_000
    yield 100_000
    spool.spool.held.clear()


def test_an_account_may_hold_a_quarter_and_is_told_to_come_again(key, quarter):
    for length in (150_000, None):
        answer = ask(post(key.secret, length=length), [bytes(50_000)] * 3)
        assert (answer.status, answer.error) == (503, "TASK_SERVICE_UNAVAILABLE"), length
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["connection"] == "close"
        assert not spool.spool.held


def test_what_fits_is_judged_by_the_views_and_given_back(key, quarter):
    assert ask(post(key.secret, length=quarter), [bytes(50_000)] * 2).status == 400
    assert not spool.spool.held


def test_another_accounts_quarter_is_its_own(key, other_key, quarter):
    Room(key.account.pk).add(quarter)
    assert ask(post(key.secret), [bytes(70_000)]).status == 503
    assert ask(post(other_key.secret, length=quarter), [bytes(50_000)] * 2).status == 400


def test_a_key_gets_in_where_strangers_have_filled_their_quarter(key, quarter):
    Room("strangers").add(quarter)
    assert ask(post(key.secret), [bytes(1000)]).status == 400
    assert ask(post("unheard-of"), [bytes(1000)]).status == 401


def test_the_whole_is_bounded_too(key, quarter):
    for payer in range(-4, 0):
        Room(payer).add(quarter)
    with pytest.raises(SpoolFull):
        Room(key.account.pk).add(1)


def test_whoever_leaves_in_an_upload_gives_back_what_it_held(key, quarter):
    held: list[int] = []
    answer = ask(
        post(key.secret), [bytes(70_000), b"x"], leaves=True, meanwhile=lambda: held.append(spool.spool.held.total())
    )
    assert held == [70_000]
    assert answer.status == 400
    assert not spool.spool.held


def test_a_large_body_to_the_admin_needs_a_session(operator, transactional_db, quarter):
    cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in operator.cookies.items())
    customer = Client()
    customer.force_login(User.objects.create_user("customer"))
    other = "; ".join(f"{name}={morsel.value}" for name, morsel in customer.cookies.items())

    def payer(cookie: str) -> object:
        return asyncio.run(doors.opened_for(scope("POST", "/admin/x/", cookie=cookie)))

    assert payer(cookie) == "desk"
    assert payer("") is payer(other) is payer("sessionid=x") is None
    assert application.largest_body("/admin/x/") == 2_621_440


def test_a_key_out_of_scope_is_refused_without_its_body(key, quarter):
    ApiKey.objects.update(task_api=False)
    answer = ask(post(key.secret, length=90_000), [bytes(90_000)])
    assert (answer.status, answer.error, answer.headers["connection"]) == (403, "TASK_SCOPE_REQUIRED", "close")
    assert not spool.spool.held


def test_a_large_body_of_a_general_key_is_read_where_its_group_may_call(account, key, quarter):
    openai = make_general_key(account, make_group("text", image_generation=True)).secret
    gemini = make_general_key(account, make_group("pictures", "gemini"), "gemini").secret

    def payer(path: str, secret: str) -> object:
        return asyncio.run(doors.opened_for(scope("POST", path, authorization=f"Bearer {secret}")))

    for path in ("/v1/chat/completions", "/v1/images/edits"):
        assert payer(path, openai) == account.pk
        assert payer(path, gemini) is payer(path, "dr-gen-unknown") is payer(path, "") is None
    assert payer("/v1/chat/completions", key.secret) is None
    assert payer("/v1/images/edits", key.secret) == account.pk
    assert payer("/v1/models", openai) is payer("/v1/tasks", openai) is None
    answer = ask({**post(openai, length=90_000), "path": "/v1/messages"}, [bytes(90_000)])
    assert (answer.status, answer.error, answer.headers["connection"]) == (404, "not_found_error", "close")
    assert not spool.spool.held
