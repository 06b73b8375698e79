"""Where a relayed call goes when a channel refuses it: to the next one, but only where surely nothing was accepted."""

import pytest

from catalog import relay_channels, snapshot
from catalog.health import relay_reading
from catalog.models import ChannelHealth, Credential
from catalog.relay_channels import ChannelQuery
from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, completion, row
from tests.relay.upstreams import STREAM, Talk, Upstream, answers, chunk, head, streams

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


def error(message: str = "no", **fields: str) -> dict[str, dict[str, str]]:
    return {"error": {"message": message, "type": "t", **fields}}


def good(*, is_stream: bool) -> Upstream:
    return Upstream(streams(*TEXT_STREAM) if is_stream else answers(completion()))


GOES_ON = {
    "429": answers(error(), "429 Too Many Requests", retry_after="30"),
    "529": answers(error(type="overloaded_error"), "529 Overloaded"),
    "503 in the protocol's shape": answers(error(), "503 Service Unavailable"),
    "503 with Retry-After": answers(b"busy", "503 Service Unavailable", retry_after="3"),
    "401": answers(error(code="invalid_api_key"), "401 Unauthorized"),
    "402": answers(error(), "402 Payment Required"),
    "403 without a reason": answers(b"<html>no</html>", "403 Forbidden"),
    "404 of the model": answers(error(code="model_not_found"), "404 Not Found"),
    "200 with a rate limit": answers(error(code="rate_limit_exceeded")),
}


@pytest.mark.parametrize("behave", GOES_ON.values(), ids=GOES_ON.keys())
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_refused_call_goes_on_to_the_next_channel_streams_too(relay, behave, is_stream) -> None:
    """Pains 9, 10 and 12: 429 and 529 that do not fail over, and streams that never do."""
    relay.channel(first := Upstream(behave))
    relay.channel(second := good(is_stream=is_stream))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, len(first.calls), len(second.calls)) == (200, 1, 1)
    assert relay.spent == 280
    assert [attempt["channel"] for attempt in row().attempts] == ["upstream-0", "upstream-1"]


def test_an_upstream_that_nobody_serves_is_passed_over(relay) -> None:
    relay.channel(gone := Upstream())
    gone.close()
    relay.upstreams.clear()
    relay.upstreams.append(second := good(is_stream=False))
    relay.upstreams.clear()
    relay.channel(second, "second", priority=5)
    assert relay.call().status == 200
    assert [attempt["kind"] for attempt in row().attempts] == ["transient", "answered"]


def test_a_stream_whose_first_event_is_an_error_goes_on_and_is_never_seen(relay) -> None:
    async def refuses(talk: Talk) -> None:
        await talk.say(STREAM, chunk(b": hello\n\n"))
        await talk.event(error("slow down", code="rate_limit_exceeded"))
        await talk.gone()

    relay.channel(Upstream(refuses))
    relay.channel(good(is_stream=True))
    client = relay.call(chat(stream=True))
    assert (client.status, client.body.count(b"data: "), b"slow down" in client.body) == (200, 4, False)


def test_a_credential_that_is_refused_is_disabled_and_no_client_hears_of_it(relay) -> None:
    relay.channel(Upstream(answers(error("Incorrect API key: sk-123", code="invalid_api_key"), "401 Unauthorized")))
    client = relay.call()
    assert (client.status, client.error["type"]) == (503, "overloaded_error")
    assert "sk-123" not in client.body.decode()
    credential = Credential.objects.get()
    assert credential.disabled_at is not None
    assert "; a probe confirmed it: " in credential.reason
    assert (row().state, row().is_loss, relay.spent) == ("released", False, 0)


def test_a_rate_limit_rests_the_channel_and_the_next_call_is_told_how_long(relay) -> None:
    """Pain 8: a 429 without Retry-After when everything cools down."""
    relay.channel(there := Upstream(answers(error(), "429 Too Many Requests", retry_after="30")))
    first = relay.call()
    second = relay.call()
    assert (first.status, first.error["type"], first.headers["retry-after"]) == (429, "rate_limit_error", "30")
    assert (second.status, len(there.requests)) == (429, 1)
    assert 1 <= int(second.headers["retry-after"]) <= 60
    assert ChannelHealth.objects.count() <= 1


def test_a_refused_request_is_told_in_the_providers_words_and_sent_nowhere_else(relay) -> None:
    relay.channel(Upstream(answers(error("max_tokens is too large", param="max_tokens"), "400 Bad Request")))
    relay.channel(second := good(is_stream=False))
    client = relay.call()
    assert (client.status, client.error["message"]) == (400, "max_tokens is too large")
    assert client.error["param"] == "max_tokens"
    assert (client.error["type"], second.requests) == ("invalid_request_error", [])
    assert (row().state, row().is_loss, row().outcome, row().http_status) == ("released", False, "refused", 400)


@pytest.mark.parametrize(
    ("code", "shown"),
    [("context_length_exceeded", "context_length_exceeded"), ("sk-1A", "invalid_request_error")],
    ids=["a-word", "no-word"],
)
def test_openais_clients_get_the_providers_code_where_it_is_a_word(relay, code, shown) -> None:
    relay.channel(Upstream(answers(error("too long", code=code), "400 Bad Request")))
    assert relay.call().error["code"] == shown


def test_a_credential_that_a_provider_repeats_is_in_no_answer_and_not_in_the_books(relay) -> None:
    secret = "upstream-0-credential-1234"
    repeats = answers(error(f"no: {secret}", param=f"header {secret}"), "400 Bad Request")
    relay.channel(there := Upstream(repeats))
    client = relay.call()
    assert secret in there.requests[0].decode()
    assert (client.error["message"], client.error["param"]) == ("no: [redacted]", "header [redacted]")
    assert secret not in str(row().attempts)


REFUSED = error("vendor/gpt-5.2 takes no tools, and vendor/gpt-5.2-mini does", code="invalid_prompt")


@pytest.mark.parametrize(
    ("behave", "is_stream"),
    [(answers(REFUSED, "400 Bad Request"), False), (streams(TEXT_STREAM[0], REFUSED), True)],
    ids=["whole", "in a stream"],
)
def test_a_refusal_names_the_model_as_its_client_does(relay, behave, is_stream) -> None:
    relay.channel(Upstream(behave), upstream_models={"gpt-5": "vendor/gpt-5.2"})
    client = relay.call(chat(stream=is_stream))
    assert b"gpt-5 takes no tools, and vendor/gpt-5.2-mini does" in client.body


async def hangs(talk: Talk) -> None:
    await talk.outlasts()


async def hangs_in_its_head(talk: Talk) -> None:
    await talk.say(b"HTTP/1.1 200 OK\r\n")
    await hangs(talk)


async def hangs_before_its_first_event(talk: Talk) -> None:
    await talk.say(head(content_type="text/event-stream"), b": wait\n\n")
    await hangs(talk)


@pytest.mark.parametrize("behave", [hangs, hangs_in_its_head, hangs_before_its_first_event])
def test_one_deadline_holds_for_all_attempts_and_a_lost_answer_is_not_repeated(relay, behave) -> None:
    """Pain 11: time-outs that pile up before the next channel is tried."""
    relay.channel(Upstream(answers(error(), "429 Too Many Requests")))
    relay.channel(Upstream(behave))
    relay.channel(third := good(is_stream=True))
    client = relay.call(chat(stream=True))
    assert (client.status, client.headers["x-should-retry"], third.requests) == (504, "false", [])
    assert client.error["type"] == "timeout_error"
    assert (row().is_loss, row().state, relay.spent) == (True, "released", 0)


async def hangs_in_its_body(talk: Talk) -> None:
    await talk.say(head("429 Too Many Requests", content_length="100", retry_after="7"))
    await talk.outlasts()


def test_the_body_of_an_error_is_not_waited_for(relay) -> None:
    relay.channel(Upstream(hangs_in_its_body))
    client: Client = relay.call()
    assert (client.status, client.headers["retry-after"]) == (429, "7")


def test_a_group_without_a_channel_is_unavailable_and_nothing_is_booked(relay) -> None:
    client = relay.call()
    assert (client.status, client.error["type"], "x-call-id" in client.headers) == (503, "overloaded_error", False)


def test_an_upstream_that_nobody_can_reach_is_no_loss(relay) -> None:
    relay.channel(gone := Upstream())
    gone.close()
    relay.upstreams.clear()
    client = relay.call()
    assert (client.status, row().is_loss, row().state, relay.spent) == (503, False, "released", 0)


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "304 Not Modified", "307 T", "308 P"])
def test_a_redirect_may_have_been_bought_and_goes_nowhere_else(relay, status, is_stream) -> None:
    relay.channel(first := Upstream(answers(b"", status, location="http://127.0.0.1:9/")))
    relay.channel(second := Upstream(answers(completion())))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, len(first.requests), second.requests) == (502, 1, [])
    assert (relay.spent, row().is_loss) == (0, True)


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (answers(b"<html>no</html>", "403 Forbidden"), 502),
        (answers(error(), "402 Payment Required"), 503),
        (answers(error("Too large. Limit 30000, Requested 342389", code="rate_limit_exceeded"), "429 Slow"), 400),
        (answers(error("You requested more max_tokens than you can afford"), "402 Payment Required"), 400),
        (answers({"error": {"code": 403, "message": "flagged", "metadata": {"flagged_input": "x"}}}, "403 No"), 400),
        (answers(error("Your organization must be verified to use the model `gpt-5`."), "403 Forbidden"), 404),
    ],
    ids=["bare 403", "402", "own size", "own tokens", "moderation", "unverified"],
)
def test_a_refusal_tells_whose_fault_it_is_and_takes_the_channel_from_nobody(relay, answer, status) -> None:
    relay.channel(Upstream(answer))
    assert [relay.call().status for _ in range(2)] == [status, status]
    credential = Credential.objects.get()
    assert (credential.disabled_at, credential.suspected_at) == (None, None)
    relay_reading.forget()
    wanted = ChannelQuery(dialect="chat", model=chat()["model"], account_id=0)
    found = relay_channels.candidates(snapshot.latest().group(relay.group.pk), wanted, snapshot.stored_version())
    assert len(found.ready) == 1
    assert relay.spent == 0
