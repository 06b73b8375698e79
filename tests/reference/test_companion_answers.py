"""What general keys send and get is as the document says, in each dialect: answers, streams, refusals and lists."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from accounts import keys
from accounts.models import Account
from catalog.models import GroupChannel
from relay.families import registry
from relay.families.generate_content import VERBS
from sandbox.server import Sandbox
from tests.reference import validating
from tests.reference.asking import Said, ask
from tests.relay.general import make_general_key, make_group
from tests.rows import IssuedKey, make_channel

pytestmark = pytest.mark.django_db(transaction=True)

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
MESSAGES, COUNT = "/v1/messages", "/v1/messages/count_tokens"
GOOGLE = "/v1beta/models/gemini-3-flash"
GENERATE = f"{GOOGLE}:generateContent"
PLATFORMS = {
    "openai": ("/openai/v1", "gpt-5.2"),
    "anthropic": ("/anthropic", "claude-sonnet-5"),
    "gemini": ("/gemini", "gemini-3-flash"),
}
PRICE = {"input": 2, "output": 8}


def said_by_user(prompt: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": prompt}]


def body_of(path: str, prompt: str = "a fox in snow") -> dict[str, Any]:
    """A request to this path."""
    match path:
        case "/v1/chat/completions":
            return {"model": "gpt-5.2", "messages": said_by_user(prompt)}
        case "/v1/responses":
            return {"model": "gpt-5.2", "input": prompt}
        case "/v1/messages" | "/v1/messages/count_tokens":
            limit = {} if path == COUNT else {"max_tokens": 300}
            return {"model": "claude-sonnet-5", "messages": said_by_user(prompt), **limit}
    return {"contents": [{"role": "user", "parts": [{"text": prompt}]}]}


PLATFORM_OF = {CHAT: "openai", RESPONSES: "openai", MESSAGES: "anthropic", COUNT: "anthropic"}


@pytest.fixture(scope="module")
def provider() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Customers:
    """A general key of a group of each platform, whose channel is the sandbox."""

    def __init__(self, account: Account, provider: Sandbox) -> None:
        self.keys: dict[str, IssuedKey] = {}
        for platform, (base, model) in PLATFORMS.items():
            group = make_group(platform, platform, models_listed=[model], prices={model: PRICE})
            channel = make_channel(platform, f"{platform}_relay", provider.url + base)
            GroupChannel.objects.create(group=group, channel=channel)
            self.keys[platform] = make_general_key(account, group, platform)

    def ask(self, path: str, body: Any, *, method: str = "POST", platform: str = "", **headers: str) -> Said:
        """The answer, which is as documented; so is the request, where it is sent as it should be."""
        key = self.keys[platform or PLATFORM_OF.get(path, "gemini")]
        answer = ask(method, path, key=key, body=body, **headers)
        validating.answer(method, path, answer)
        if answer.status_code == 200 and method == "POST":
            validating.request(method, path, body)
        return answer


@pytest.fixture
def customers(account, provider) -> Customers:
    return Customers(account, provider)


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, GENERATE])
def test_a_whole_answer_is_as_documented(customers, path):
    answer = customers.ask(path, body_of(path))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    assert answer.headers["x-call-id"].startswith("call_")


@pytest.mark.parametrize("path", [COUNT, f"{GOOGLE}:countTokens"])
def test_a_count_is_as_documented(customers, path):
    answer = customers.ask(path, body_of(path))
    assert (answer.status_code, "x-call-id" in answer.headers) == (200, False)


STREAMS = [
    (CHAT, {"stream": True, "stream_options": {"include_usage": True}}, "ChatCompletionChunk"),
    (RESPONSES, {"stream": True}, "ResponseEvent"),
    (MESSAGES, {"stream": True}, "MessageEvent"),
    (f"{GOOGLE}:streamGenerateContent?alt=sse", {}, "GenerateContentAnswer"),
]
ENDS = {"ChatCompletionChunk": "OpenAIError", "ResponseEvent": "ResponseStreamError"}
ENDS |= {"MessageEvent": "AnthropicError", "GenerateContentAnswer": "GoogleError"}


def of_schema(name: str, data: bytes) -> None:
    validating.valid(validating.at("components", "schemas", name), json.loads(data))


@pytest.mark.parametrize(("path", "more", "schema"), STREAMS, ids=ENDS)
def test_each_event_of_a_stream_is_as_documented(customers, path, more, schema):
    answer = customers.ask(path, {**body_of(path), **more})
    events = [data for data in answer.events() if data != b"[DONE]"]
    assert answer.headers["content-type"] == "text/event-stream"
    assert len(events) > 2
    for data in events:
        of_schema(schema, data)


@pytest.mark.parametrize(("path", "more", "schema"), STREAMS, ids=ENDS)
def test_a_stream_that_breaks_off_ends_with_the_documented_error(customers, path, more, schema):
    *_, last = customers.ask(path, {**body_of(path, "a fox in snow [cut]"), **more}).events()
    of_schema(ENDS[schema], last)


@pytest.mark.parametrize("prompt", ["a fox in snow", "a fox in snow [cut]"])
def test_a_stream_as_one_array_is_as_documented(customers, prompt):
    answer = customers.ask(f"{GOOGLE}:streamGenerateContent", body_of(GENERATE, prompt))
    assert answer.headers["content-type"] == "application/json"
    assert ("error" in answer.document[-1]) == ("cut" in prompt)


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, COUNT, GENERATE])
def test_refusals_are_as_documented(customers, key, path):
    """Without a key, with one that is not for it, with a body that is none, packed, for another model, or beyond what
    the account has."""
    named = body_of(path)
    unknown = {**named, "model": "unheard-of"} if "model" in named else named
    elsewhere = path.replace("gemini-3-flash", "unheard-of")
    for status, answer in (
        (401, ask("POST", path, body=named)),
        (403, ask("POST", path, key=key, body=named)),
        (400, customers.ask(path, [])),
        (415, customers.ask(path, named, content_encoding="br")),
        (404, ask("POST", path, key=make_general_key(key.account, make_group("bare")), body=named)),
        (404, ask("POST", elsewhere, key=customers.keys[PLATFORM_OF.get(path, "gemini")], body=unknown)),
    ):
        assert answer.status_code == status, answer.content
        validating.answer("POST", path, answer)


@pytest.mark.parametrize("path", [CHAT, RESPONSES, MESSAGES, GENERATE])
def test_what_the_provider_or_the_balance_refuses_is_as_documented(customers, account, path):
    for word, status in (("fail", 400), ("garbage", 502)):
        assert customers.ask(path, body_of(path, f"a fox [{word}]")).status_code == status
    Account.objects.filter(pk=account.pk).update(balance_micros=0)
    unpaid = {MESSAGES: 402, GENERATE: 403}
    assert customers.ask(path, body_of(path)).status_code == unpaid.get(path, 429)
    Account.objects.filter(pk=account.pk).update(balance_micros=1_000_000)
    assert customers.ask(path, body_of(path, "a fox [rate-limited]")).status_code == 429


@pytest.mark.parametrize("listed", ["/v1/models", "/v1beta/models"])
@pytest.mark.parametrize("platform", PLATFORMS)
def test_lists_of_models_are_as_documented(customers, listed, platform):
    named = f"{listed}/{PLATFORMS[platform][1]}"
    for words in ({}, {"anthropic_version": "2023-06-01"}, {"x_goog_api_key": "any"}):
        for path, status in ((listed, 200), (named, 200), (f"{listed}/unheard-of", 404)):
            answer = customers.ask(path, b"", method="GET", platform=platform, **words)
            assert answer.status_code == status
    assert customers.ask(listed, b"", method="HEAD", platform=platform).content == b""


def test_a_list_s_schemas_are_one_for_each_vendor(customers):
    for words, schema in (
        ({}, "OpenAIModelList"),
        ({"anthropic_version": "2023-06-01"}, "AnthropicModelList"),
        ({"x_goog_api_key": "any"}, "GoogleModelList"),
    ):
        of_schema(schema, customers.ask("/v1/models", b"", method="GET", platform="openai", **words).content)


@pytest.mark.parametrize("path", ["/v1/models?limit=0", "/v1beta/models?pageSize=x"])
def test_a_page_that_is_none_is_refused_as_documented(customers, path):
    answer = customers.ask(path, b"", method="GET", platform="anthropic", anthropic_version="2023-06-01")
    assert answer.status_code == 400


@pytest.mark.parametrize("path", ["/v1/models", "/v1/models/gpt-5.2", "/v1beta/models", "/v1/usage"])
def test_what_may_not_be_listed_is_refused_as_documented(customers, key, path):
    keys.disable(customers.keys["gemini"].record)
    assert customers.ask(path, b"", method="GET", platform="gemini").status_code == 401
    refused = ask("GET", path, key=key)
    assert refused.status_code == 403
    validating.answer("GET", path, refused)


def test_usage_is_as_documented(customers, account):
    Account.objects.filter(pk=account.pk).update(budget_day_micros=5_000_000, has_budgets=True)
    assert customers.ask("/v1/usage", b"", method="GET", platform="openai").document["by_model"] == []
    customers.ask(CHAT, body_of(CHAT))
    shown = customers.ask("/v1/usage", b"", method="GET", platform="openai").document
    assert shown["total"]["calls"] == 1
    assert [len(shown[name]) for name in ("by_day", "by_model", "budgets")] == [1, 1, 1]


def test_every_path_of_the_relay_is_documented():
    google = [
        f"/{version}/{room}/any:{verb}"
        for version in ("v1", "v1beta")
        for room in ("models", "tunedModels")
        for verb in VERBS
    ]
    for path in (*registry.FIXED, *google):
        assert registry.find_family("POST", path), path
        assert "200" in validating.operation("POST", path).value["responses"], path
