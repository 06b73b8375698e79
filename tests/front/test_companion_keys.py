"""Which key may call which companion path, through the whole front in this process: status and type of each refusal."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from accounts import keys
from accounts.models import Account
from billing.models import RelayUsage
from catalog.models import GroupChannel
from common.http.asgi import Message
from common.token_usage import COUNTS
from front import application
from tasks import switches
from tests.relay.general import make_general_key, make_group
from tests.rows import make_channel
from tests.scopes import scope
from tools.children import PATIENCE

OPENAI = ("/v1/chat/completions", "/v1/responses")
ANTHROPIC = ("/v1/messages", "/v1/messages/count_tokens")
GEMINI = (
    "/v1beta/models/org/gem-1:generateContent",
    "/v1beta/models/gem-1:streamGenerateContent",
    "/v1beta/models/gem-1:countTokens",
    "/v1/models/gem-1:generateContent",
    "/v1/models/gem-1:streamGenerateContent",
    "/v1/models/gem-1:countTokens",
)
OWN = {"openai": OPENAI, "anthropic": ANTHROPIC, "gemini": GEMINI}
TEXT = (*OPENAI, *ANTHROPIC, *GEMINI)
IMAGES = ("/v1/images/generations", "/v1/images/edits")
LISTS = ("/v1/models", "/v1beta/models", "/v1/models/gpt-1", "/v1beta/models/gpt-1", "/v1/usage")
TASKS = ("/v1/tasks", "/v1/tasks/quote", "/v1/videos")
IMAGES_UNSUPPORTED = "Images API is not supported for this platform"

pytestmark = pytest.mark.django_db(transaction=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a client got."""

    status: int
    headers: dict[str, str]
    raw: bytes

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.raw))

    @property
    def refusal(self) -> tuple[int, str]:
        """Status and type; Google's is a status in words."""
        error = self.document["error"]
        return self.status, error.get("type") or error["status"]


def ask(method: str, path: str, secret: str = "", *, query: str = "", body: bytes = b"[]", **headers: str) -> Said:
    given = {"authorization": f"Bearer {secret}"} if secret else {}
    request = scope(method, path, query, **{"content_type": "application/json", **given, **headers})
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Message] = []

    async def receive() -> Message:
        return pieces.pop(0) if pieces else await asyncio.Future()

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(asyncio.wait_for(application.application(request, receive, send), PATIENCE))
    answer = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Said(status=sent[0]["status"], headers=answer, raw=b"".join(part.get("body", b"") for part in sent[1:]))


def in_words(path: str, type_: str) -> str:
    """The type as the dialect of the path has it."""
    google = {
        "authentication_error": "UNAUTHENTICATED",
        "permission_error": "PERMISSION_DENIED",
        "not_found_error": "NOT_FOUND",
        "invalid_request_error": "INVALID_ARGUMENT",
    }
    return google[type_] if path.startswith("/v1beta/") or path in GEMINI else type_


def test_what_opens_nothing_is_one_401_on_every_path(account):
    group = make_group("text")
    disabled = make_general_key(account, group)
    keys.disable(disabled.record)
    for path in (*TEXT, *IMAGES, *LISTS):
        method = "GET" if path in LISTS else "POST"
        # An image call without a key of either kind is Django's; the answer is the same.
        missing, unknown = ask(method, path), ask(method, path, "dr-gen-unknown")
        no_more = ask(method, path, disabled.secret)
        for said in (missing, unknown, no_more):
            assert said.refusal == (401, in_words(path, "authentication_error")), path
            assert said.headers["www-authenticate"] == "Bearer"
            assert said.document["error"] == missing.document["error"]


def test_a_task_key_may_call_images_alone(key):
    for path in TEXT:
        assert ask("POST", path, key.secret).refusal == (403, in_words(path, "permission_error")), path
    for path in LISTS:
        assert ask("GET", path, key.secret).refusal == (403, in_words(path, "permission_error")), path
    for path in IMAGES:
        assert ask("POST", path, key.secret).refusal == (400, "TASK_INVALID_REQUEST"), path


def test_a_key_without_a_group_may_call_no_model(account):
    general = make_general_key(account, None)
    for path in TEXT:
        assert ask("POST", path, general.secret).refusal == (403, in_words(path, "permission_error")), path
    assert ask("GET", "/v1/models", general.secret).document == {"object": "list", "data": []}
    assert ask("GET", "/v1beta/models", general.secret).document == {"models": []}


@pytest.mark.parametrize("platform", OWN)
def test_a_platform_has_its_own_paths_alone(account, platform):
    """Those it has come to the body, which is packed."""
    general = make_general_key(account, make_group("text", platform, image_generation=True))
    for path in (*TEXT, *IMAGES):
        said = ask("POST", path, general.secret, content_encoding="br")
        if path in OWN[platform] or (path in IMAGES and platform == "openai"):
            assert said.status == 415, path
        else:
            assert said.refusal == (404, in_words(path, "not_found_error")), path


def test_a_channel_may_open_further_paths_but_no_counting_on_openais(account):
    group = make_group("text")
    channel = make_channel("both", "openai_relay", "http://127.0.0.1:9/v1")
    GroupChannel.objects.create(group=group, channel=channel, dialects=["messages"])
    general = make_general_key(account, group)
    assert ask("POST", "/v1/messages/count_tokens", general.secret).refusal == (404, "not_found_error")
    assert ask("POST", "/v1/messages", general.secret, content_encoding="br").status == 415
    assert ask("POST", GEMINI[0], general.secret).refusal == (404, "NOT_FOUND")


def test_images_need_a_group_of_openais_that_allows_them(account):
    without = [None, make_group("text"), make_group("gemini", "gemini", image_generation=True)]
    without.append(make_group("anthropic", "anthropic", image_generation=True))
    for number, group in enumerate(without):
        general = make_general_key(account, group, str(number))
        for path in IMAGES:
            said = ask("POST", path, general.secret)
            assert said.refusal == (404, "not_found_error")
            assert said.document["error"]["message"] == IMAGES_UNSUPPORTED


def test_a_general_key_is_out_of_scope_for_tasks(account):
    general = make_general_key(account, make_group("text", image_generation=True))
    for path in TASKS:
        assert ask("POST", path, general.secret).refusal == (403, "TASK_SCOPE_REQUIRED"), path


def test_other_methods_are_refused_once_the_key_has_opened(account):
    general = make_general_key(account, make_group("text"))
    for path in TEXT:
        for method in ("GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"):
            assert ask(method, path).status == 401
            said = ask(method, path, general.secret)
            assert (said.status, said.headers["allow"]) == (405, "POST"), (method, path)
            if method != "HEAD":
                assert said.refusal == (405, in_words(path, "invalid_request_error"))


def test_lists_are_only_read(account):
    general = make_general_key(account, make_group("text", models_listed=["gpt-1"]))
    for path in LISTS:
        head = ask("HEAD", path, general.secret)
        assert (head.status, head.raw) == (200, b"")
        for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
            said = ask(method, path, general.secret)
            assert (said.status, said.headers["allow"]) == (405, "GET, HEAD"), (method, path)
    assert ask("POST", "/v1/models/gpt-1:embedContent", general.secret).refusal == (404, "NOT_FOUND")


def test_a_list_is_in_the_dialect_of_its_path_or_of_its_headers(account):
    secret = make_general_key(account, make_group("text", models_listed=["gpt-1", "gpt-2"])).secret
    openai = ask("GET", "/v1/models", secret).document
    anthropic = ask("GET", "/v1/models", x_api_key=secret, anthropic_version="2026-10-21", query="limit=1").document
    google = ask("GET", "/v1/models", x_goog_api_key=secret, query="pageSize=1").document
    assert [model["id"] for model in openai["data"]] == ["gpt-1", "gpt-2"]
    assert (anthropic["data"][0]["type"], anthropic["last_id"], anthropic["has_more"]) == ("model", "gpt-1", True)
    assert (google["models"][0]["name"], google["nextPageToken"]) == ("models/gpt-1", "gpt-1")
    assert ask("GET", "/v1beta/models", secret, query="pageSize=1").document == google
    one = ask("GET", "/v1beta/models/gpt-2", secret).document
    assert (one["name"], one["supportedGenerationMethods"]) == ("models/gpt-2", [])
    assert ask("GET", "/v1/models/gpt-2", secret).document["id"] == "gpt-2"
    assert ask("GET", "/v1/models/other", secret).document["error"]["code"] == "model_not_found"
    assert ask("GET", "/v1/models", secret, anthropic_version="1", query="limit=0").refusal == (
        400,
        "invalid_request_error",
    )


def test_the_usage_is_that_of_the_key_and_its_account(account):
    general, other = (make_general_key(account, None, name) for name in ("mine", "another"))
    day = {"day": "2026-11-20", "model": "gpt-1"}
    tokens = dict.fromkeys(COUNTS, 0) | {"input_tokens": 7, "cache_write_1h_tokens": 5, "output_tokens": 3}
    RelayUsage.objects.create(key=general.record, **day, calls=2, **tokens, cost_micros=30)
    RelayUsage.objects.create(key=other.record, **day, calls=1, cost_micros=5)
    said = ask("GET", "/v1/usage", general.secret)
    assert said.document == {
        "object": "usage",
        "account": "tester",
        "balance": 10,
        "held": 0,
        "currency": "USD",
        "budgets": [],
        "total": {"calls": 2, "cost": 0.00003},
        "by_day": [{"date": "2026-11-20", "calls": 2, "cost": 0.00003}],
        "by_model": [{"model": "gpt-1", "calls": 2, **tokens, "cost": 0.00003}],
    }
    assert said.raw.count(b":0.00003") == 3  # and no exponent
    assert said.headers["cache-control"] == "no-store"


def test_the_switches_of_the_task_api_do_not_concern_general_keys(account):
    general = make_general_key(account, make_group("text", "anthropic"))
    switches.disable_api()
    switches.pause(message="Moving house.", retry_after_seconds=90)
    assert ask("POST", "/v1/chat/completions", general.secret).refusal == (404, "not_found_error")
    assert ask("POST", "/v1/images/edits", general.secret).refusal == (404, "not_found_error")


def test_the_key_may_stand_where_each_sdk_puts_it(account):
    general = make_general_key(account, None)
    for path in TEXT:
        for name in ("authorization", "x_api_key", "x_goog_api_key"):
            value = f"Bearer {general.secret}" if name == "authorization" else general.secret
            assert ask("POST", path, **{name: value}).status == 403, (path, name)
        queried = ask("POST", path, query=f"key={general.secret}")
        assert queried.status == (403 if path in GEMINI else 401), path


def test_every_refusal_names_its_request_twice_and_is_json(account):
    for path in (*TEXT, *IMAGES):
        said = ask("POST", path, x_request_id="mine-1")
        assert said.headers["x-request-id"] == said.headers["request-id"] == "mine-1"
        assert said.headers["content-type"] == "application/json"
    assert ask("POST", "/v1/messages", x_request_id="mine-1").document["request_id"] == "mine-1"


def test_a_declared_size_over_the_limit_is_told_in_the_dialect_before_the_key(settings):
    too_much = str(settings.MAX_REQUEST_BYTES + 1)
    said = {path: ask("POST", path, content_length=too_much) for path in TEXT}
    for path, answer in said.items():
        assert answer.refusal == (413, "INVALID_ARGUMENT" if path in GEMINI else "request_too_large"), path


def test_calls_and_looks_are_counted_by_rates_of_their_own(account, settings):
    general = make_general_key(account, make_group("text"))
    settings.RATE_LIMITS = {"relay": 0}
    said = ask("POST", "/v1/chat/completions", general.secret)
    assert said.refusal == (429, "rate_limit_error")
    assert (said.headers["ratelimit-limit"], said.headers["ratelimit-remaining"]) == ("0", "0")
    assert 0 < int(said.headers["retry-after"]) <= 60
    assert ask("POST", "/v1/messages", general.secret).status == 404
    assert ask("GET", "/v1/models", general.secret).status == 200
    settings.RATE_LIMITS = {"read": 0}
    for path in ("/v1/models", "/v1/usage"):
        assert ask("GET", path, general.secret).refusal == (429, "rate_limit_error")


def test_the_first_violation_is_the_answer(account, key, settings):
    """A request that is wrong in every way, mended step by step: declared size, key, binding, platform, rate, encoding,
    media type, JSON, fields, price, subscription, channel, balance."""
    settings.RATE_LIMITS = {"relay": 0}
    wrong = {"content_encoding": "br", "content_length": str(settings.MAX_REQUEST_BYTES + 1), "content_type": "x/y"}
    elsewhere = make_general_key(account, make_group("elsewhere", "anthropic"), "elsewhere").secret
    group = make_group("text", prices={"gpt-1": {"input": 1, "output": 1}})
    general = make_general_key(account, group).secret
    Account.objects.update(billing="subscription", balance_micros=0)

    def refusal(secret: str = general, model: Any = None) -> tuple[int, str]:
        body = json.dumps({"model": model, "input": "Hello"} if model else []).encode()
        return ask("POST", "/v1/responses", secret, body=body, **wrong).refusal

    assert refusal("") == (413, "request_too_large")
    del wrong["content_length"]
    seen = [refusal(secret)[0] for secret in ("", "dr-gen-unknown", key.secret, elsewhere, general)]
    assert seen == [401, 401, 403, 404, 429]
    settings.RATE_LIMITS = {}
    for name in ("content_encoding", "content_type"):
        assert refusal() == (415, "invalid_request_error")
        del wrong[name]
    assert refusal() == refusal(model=1) == (400, "invalid_request_error")
    assert refusal(model="other") == (404, "invalid_request_error")
    assert refusal(model="gpt-1") == (403, "permission_error")
    Account.objects.update(billing="balance")
    assert refusal(model="gpt-1") == (503, "overloaded_error")
    channel = make_channel("text-1", "openai_relay", "http://127.0.0.1:9/v1")
    GroupChannel.objects.create(group=group, channel=channel)
    assert refusal(model="gpt-1") == (429, "insufficient_quota")


@pytest.mark.parametrize("limits", [{"balance_micros": 39_999}, {"budget_day_micros": 39_999, "has_budgets": True}])
def test_pictures_of_a_general_key_that_cannot_pay_are_refused_as_openai_does(account, limits):
    group = make_group("pictures", image_generation=True, image_prices={"gpt-image-2": 0.04})
    channel = make_channel("pictures-1", "openai_relay", "http://127.0.0.1:9/v1")
    GroupChannel.objects.create(group=group, channel=channel)
    Account.objects.update(**limits)
    body = json.dumps({"model": "gpt-image-2", "prompt": "a fox"}).encode()
    said = ask("POST", "/v1/images/generations", make_general_key(account, group).secret, body=body)
    assert said.refusal == (429, "insufficient_quota")
    assert said.headers["retry-after"] == "60"


def test_a_packed_body_is_not_taken(account):
    general = make_general_key(account, make_group("text"))
    for coding in ("gzip", "identity, gzip", "br"):
        said = ask("POST", "/v1/chat/completions", general.secret, content_encoding=coding)
        assert said.refusal == (415, "invalid_request_error")


def test_a_path_that_is_not_served_is_refused_in_its_vendors_words_and_says_what_to_do(account):
    general = make_general_key(account, make_group("text"))
    for path, type_, words in (
        ("/v1/embeddings", "not_found_error", "does not serve /v1/embeddings. It serves text and pictures"),
        ("/v1/messages/batches/x", "not_found_error", "Send each request by itself."),
        ("/v1beta/cachedContents", "NOT_FOUND", "send the whole conversation with each."),
        ("/v1beta/models/gem-1:embedContent", "NOT_FOUND", "does not serve :embedContent of a model."),
        ("/v1/v1/messages", "not_found_error", "/v1/messages is: correct the base URL of your client."),
        ("/responses", "not_found_error", "/v1/responses is: correct the base URL of your client."),
    ):
        said = ask("POST", path, general.secret)
        assert said.refusal == (404, type_), path
        assert words in said.document["error"]["message"], path
        assert said.headers["x-should-retry"] == "false"


def test_a_path_that_is_not_served_needs_no_key(db):
    assert ask("POST", "/v1/embeddings").refusal == (404, "not_found_error")


def test_unknown_paths_stay_unknown(account):
    general = make_general_key(account, make_group("text"))
    for path in ("/v1/nothing", "/v2/x"):
        assert ask("POST", path, general.secret).refusal == (404, "TASK_NOT_FOUND"), path


@pytest.mark.parametrize("sent", [{"upgrade": "WebSocket", "connection": "Upgrade"}, {"sec_websocket_version": "13"}])
def test_a_websocket_is_told_to_use_http(account, sent):
    """Also where a proxy has dropped what concerns its own connection."""
    general = make_general_key(account, make_group("text"))
    said = ask("GET", "/v1/responses", general.secret, body=b"", **sent)
    assert said.refusal == (426, "invalid_request_error")
    assert said.headers["upgrade"] == "HTTP/1.1"
    assert ask("GET", "/v1/responses", "dr-gen-unknown", body=b"", **sent).status == 401
    assert ask("GET", "/v1/chat/completions", general.secret, body=b"", **sent).status == 405
    assert ask("GET", "/v1/responses", general.secret, body=b"").status == 405
