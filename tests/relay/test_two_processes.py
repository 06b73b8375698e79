"""General keys at two web processes: calls are answered and refused alike by both, whatever changes in between."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from tests.adapters.raw_server import answer, raw_server
from tests.relay.calling import chat, completion

pytestmark = pytest.mark.slow

CATALOG = """
version: 1
groups:
  - name: text
    platform: openai
    channels: [{{base_url: "{url}/v1", credentials: {{api_key: sk-upstream-1234}}, dialects: [messages]}}]
    prices: {{"gpt-*": {{input: {price}, output: 8, max_output_tokens: 100}}}}
"""
CLIENTS, CALLS = 12, 15
LARGE = "x" * 100_000
COST = 100 * 2 + 10 * 8
HELD = 100 * 8  # and what went in


@pytest.fixture
def upstream():
    said = json.dumps(completion()).encode()
    with raw_server(answer(said, headers={"Content-Type": "application/json", "Connection": "close"})) as server:
        yield server


@pytest.fixture
def shop(stack, upstream):
    """Two web processes at one port, and a key of an account with ten dollars."""
    stack.load_catalog(CATALOG.format(url=upstream.url, price=2))
    stack.manage("create_account", "tester", "--credit", "10")
    key = stack.manage_json("create_key", "tester", "--binding", "general", "--group", "text")["key"]
    stack.start_web(WEB_CONCURRENCY="2", RATE_LIMITS="off")
    return stack, str(key)


def post(shop, body, path="/v1/chat/completions") -> int:
    """The status of a call over a connection of its own, which goes to either process."""
    stack, key = shop
    headers = {"Authorization": f"Bearer {key}", "Connection": "close"}
    answered = requests.post(f"{stack.base_url}{path}", json=body, headers=headers, timeout=600)
    assert answered.status_code == 200 or "error" in answer_of(answered)
    return answered.status_code


def answer_of(answered: requests.Response) -> dict[str, object]:
    return dict(answered.json())


def usage(shop) -> dict[str, object]:
    stack, key = shop
    return dict(stack.client(key).get("/v1/usage").json())


def test_no_call_fails_while_the_catalog_changes(shop, upstream) -> None:
    stack, _ = shop
    with ThreadPoolExecutor(CLIENTS) as pool:
        calls = [pool.submit(post, shop, chat()) for _ in range(CLIENTS * CALLS // 2)]
        for price in (3, 4, 2):
            stack.load_catalog(CATALOG.format(url=upstream.url, price=price))
            calls += [pool.submit(post, shop, chat()) for _ in range(CLIENTS * CALLS // 6)]
    assert {call.result() for call in calls} == {200}
    told = usage(shop)
    assert (told["held"], told["total"]["calls"]) == (0, CLIENTS * CALLS)
    assert stack.manage_json("check_ledger")["breaches"] == []


def test_calls_beyond_the_balance_are_refused_and_the_others_answered(shop) -> None:
    stack, _ = shop
    affordable = 4
    left = (affordable * (HELD + 2 * len(json.dumps(chat()))) + COST) / 1_000_000
    stack.manage("credit_account", "tester", str(left - 10), "--reason", "test")
    with ThreadPoolExecutor(CLIENTS) as pool:
        statuses = list(pool.map(lambda _: post(shop, chat()), range(60)))
    assert set(statuses) == {200, 429}
    told = usage(shop)
    assert statuses.count(200) == told["total"]["calls"] >= affordable
    assert (told["held"], told["balance"] >= 0) == (0, True)
    assert stack.manage_json("check_ledger")["breaches"] == []


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/chat/completions", chat(model="unknown", user=LARGE), 404),
        ("/v1/chat/completions", chat(service_tier="priority", user=LARGE), 400),
        ("/v1/messages/count_tokens", {**chat(), "system": LARGE}, 404),
    ],
)
def test_what_is_refused_is_refused_by_both_also_after_a_call(shop, path, body, status) -> None:
    assert {post(shop, chat()) for _ in range(6)} == {200}
    assert {post(shop, body, path) for _ in range(6)} == {status}


def refuses_stream_options(connection, request: bytes) -> None:
    """As an upstream does that knows no such field."""
    closing = {"Connection": "close"}
    if b"stream_options" in request:
        error = json.dumps({"error": {"message": "unknown field stream_options"}}).encode()
        answer(error, status="400 Bad Request", headers=closing)(connection, request)
        return
    chunk = json.dumps({"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}).encode()
    streamed = b"data: " + chunk + b"\n\ndata: [DONE]\n\n"
    answer(streamed, headers={**closing, "Content-Type": "text/event-stream"})(connection, request)


def test_a_channel_without_stream_options_is_learned_of_once(stack) -> None:
    with raw_server(refuses_stream_options) as server:
        stack.load_catalog(CATALOG.format(url=server.url, price=2))
        stack.manage("create_account", "tester", "--credit", "10")
        key = stack.manage_json("create_key", "tester", "--binding", "general", "--group", "text")["key"]
        stack.start_web(WEB_CONCURRENCY="2", RATE_LIMITS="off")
        assert {post((stack, key), chat(stream=True)) for _ in range(12)} == {200}
    assert [b"stream_options" in request for request in server.requests] == [True] + [False] * 12
