"""Relayed calls from their body to their last byte: what goes upstream, what the client gets, what the books say."""

import asyncio
import gzip
import json

import pytest

from accounts.models import Account
from billing.models import RelayedCall
from catalog.models import GroupOffer
from common.concurrency import threads
from common.http.spool import spool
from relay.calls import demands, in_flight, kept_answers
from tests.relay.calling import TEXT_STREAM, Client, Relay, chat, completion, row
from tests.relay.upstreams import Talk, Upstream, answers, head, streams
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def relay(account) -> Relay:
    return Relay(account)


def test_a_whole_answer_comes_as_it_is_and_is_charged_by_its_usage(relay) -> None:
    theirs = {"x_request_id": "theirs", "openai_organization": "o", "set_cookie": "a=b", "server": "s"}
    relay.channel(there := Upstream(answers(completion(extra="kept"), **theirs)))
    client = relay.call(chat(max_tokens=20))
    assert (client.status, json.loads(client.body)) == (200, completion(extra="kept"))
    assert there.bodies == [chat(max_tokens=20)]
    assert client.headers.keys() == {"content-type", "content-length", "x-call-id"}
    call = row()
    assert call.id == client.headers["x-call-id"]
    assert (call.state, call.outcome, call.actual_micros, call.http_status) == ("settled", "succeeded", 280, 200)
    assert (call.is_estimated, call.is_loss, call.output_tokens) == (False, False, 10)
    assert relay.spent == 280


def test_a_stream_costs_what_the_same_answer_costs_whole(relay) -> None:
    """Pain 3: streams billed as nothing."""
    relay.channel(there := Upstream(streams(*TEXT_STREAM)))
    client = relay.call(chat(stream=True))
    sent = {"stream_options": {"include_usage": True}, "max_completion_tokens": demands.settings.RELAY_OUTPUT_TOKENS}
    assert there.bodies == [chat(stream=True, **sent)]
    assert client.headers["content-type"] == "text/event-stream"
    assert client.body.count(b"data: ") == 4  # the usage was not asked for
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert (row().actual_micros, row().is_stream, relay.spent) == (280, True, 280)


def test_the_money_is_held_before_the_first_byte_goes_out_and_settled_before_the_last_one_comes(relay) -> None:
    seen: list[tuple[str, str]] = []

    def state() -> str:
        return RelayedCall.objects.get().state

    async def notes(talk: Talk) -> None:
        seen.append(("asked", await threads.call(state)))
        await streams(*TEXT_STREAM)(talk)

    async def reads(client: Client) -> None:
        seen.append(("heard", await threads.call(state)))

    relay.channel(Upstream(notes))
    client = relay.call(chat(stream=True), client=Client(reads=reads))
    assert seen[0] == ("asked", "open")
    assert seen[-1] == ("heard", "settled")
    assert client.body.endswith(b"data: [DONE]\n\n")


def test_the_end_of_a_whole_answer_is_in_the_books_before_its_first_byte(relay) -> None:
    seen: list[str] = []

    async def reads(client: Client) -> None:
        seen.append(await threads.call(lambda: RelayedCall.objects.get().state))

    relay.channel(Upstream(answers(completion())))
    relay.call(client=Client(reads=reads))
    assert set(seen) == {"settled"}


def test_a_call_that_the_balance_does_not_cover_is_sent_nowhere(relay) -> None:
    Account.objects.update(balance_micros=100)
    relay.channel(there := Upstream(answers(completion())))
    client = relay.call(chat(max_tokens=1000))
    assert (client.status, there.requests) == (429, [])
    assert not RelayedCall.objects.exists()


def test_calls_at_once_never_pass_the_balance(relay) -> None:
    """Pain 4: each may cost 8,000 micro-USD and more, and three of those are there."""
    Account.objects.update(balance_micros=25_000)
    relay.channel(there := Upstream(answers(completion())))

    async def work() -> list[Client]:
        return await asyncio.gather(*(relay.ask(chat(max_tokens=1000)) for _ in range(8)))

    statuses = sorted(client.status for client in relay.run(work))
    assert set(statuses) == {200, 429}
    assert statuses.count(200) == len(there.requests) >= 2
    account = Account.objects.get()
    assert (account.balance_micros, account.held_micros) == (25_000 - 280 * statuses.count(200), 0)


def test_a_model_without_a_price_is_refused_and_never_free(relay) -> None:
    relay.channel(there := Upstream(answers(completion())))
    client = relay.call(chat(model="claude-5"))
    assert (client.status, client.error["message"]) == (404, "The model `claude-5` does not exist.")
    offer = GroupOffer.objects.get()
    offer.prices, offer.models_listed = {}, ["gpt-5"]
    offer.save()
    listed = relay.call()
    assert (listed.status, listed.headers["x-should-retry"]) == (503, "false")
    assert there.requests == []


def test_a_field_beyond_the_price_table_passes_only_where_the_operator_says_so(relay) -> None:
    searching = chat(web_search_options={}, max_tokens=100)
    relay.channel(there := Upstream(answers(completion())))
    client = relay.call(searching)
    assert (client.status, client.error["param"], there.requests) == (400, "web_search_options", [])
    offer = GroupOffer.objects.get()
    offer.extra_fields = ["web_search_options"]
    offer.save()
    assert (relay.call(searching).status, there.bodies) == (200, [searching])


def test_a_model_has_the_name_there_that_the_channel_says_and_its_own_here(relay) -> None:
    relay.channel(
        there := Upstream(answers(completion(model="deployment-7"))), upstream_models={"gpt-5": "deployment-7"}
    )
    client = relay.call()
    assert there.bodies[0]["model"] == "deployment-7"
    assert json.loads(client.body)["model"] == "gpt-5"


def test_a_whole_answer_without_usage_is_charged_by_an_estimate_and_flagged(relay) -> None:
    whole = completion()
    del whole["usage"]
    relay.channel(Upstream(answers(whole)))
    relay.call()
    assert (row().is_estimated, row().output_tokens, row().state) == (True, 1, "settled")
    assert row().actual_micros == row().input_tokens * 2 + 8


def test_a_compressed_answer_is_read(relay) -> None:
    packed = gzip.compress(json.dumps(completion()).encode())
    relay.channel(Upstream(answers(packed, content_encoding="gzip")))
    client = relay.call()
    assert (json.loads(client.body), "content-encoding" in client.headers) == (completion(), False)


def test_a_large_answer_lies_in_a_file_and_is_sent_piece_by_piece(relay, monkeypatch) -> None:
    monkeypatch.setattr(kept_answers, "MEMORY_BYTES", 100_000)
    picture = "iVBOR" * 200_000
    whole = completion(picture=picture)
    relay.channel(Upstream(answers(whole)))
    client = relay.call()
    assert json.loads(client.body) == whole
    assert max(len(message.get("body", b"")) for message in client.sent) <= kept_answers.PIECE_BYTES
    assert row().actual_micros == 280


def test_answers_that_fill_the_room_of_their_account_do_not_wait_for_each_other(relay, settings) -> None:
    settings.MAX_SPOOL_BYTES = 4 * 100_000
    whole = json.dumps(completion(picture="iVBOR" * 16_000)).encode()
    account_id, is_full = relay.key.account.pk, asyncio.Event()

    async def halves(talk: Talk) -> None:
        await talk.say(head(content_type="application/json", content_length=str(len(whole))), whole[:45_000])
        while not is_full.is_set() and spool.held[account_id] < 90_000:
            await asyncio.sleep(0.001)
        is_full.set()
        await talk.say(whole[45_000:])

    async def both() -> list[Client]:
        async with asyncio.timeout(PATIENCE):
            return await asyncio.gather(relay.ask(), relay.ask())

    relay.channel(Upstream(halves))
    assert [client.body for client in relay.run(both)] == [whole, whole]
    assert (relay.spent, spool.held, spool.beyond) == (560, {}, {})


def test_an_answer_beyond_the_cap_is_the_operators_loss(relay, monkeypatch) -> None:
    monkeypatch.setattr(kept_answers, "LARGEST_BYTES", 1000)
    relay.channel(Upstream(answers(completion(text="x" * 2000))))
    client = relay.call()
    assert (client.status, client.headers["x-should-retry"], row().is_loss, relay.spent) == (502, "false", True, 0)


def test_a_large_body_goes_upstream_whole(relay) -> None:
    relay.channel(there := Upstream(answers(completion())))
    body = chat(messages=[{"role": "user", "content": "x" * (4 * demands.INLINE_BYTES)}], max_tokens=1)
    relay.call(body)
    assert there.bodies == [body]


UNUSABLE = {
    "a page": answers(b"<html>Welcome</html>", content_type="text/html"),
    "half a document": answers(b'{"id": "c", "choi'),
    "a list": answers([]),
    "an error with no code": answers({"error": {"message": "Something is wrong."}}),
    "a server error": answers({"error": {"message": "Oops."}}, "500 Internal Server Error"),
    "a gateway's timeout": answers(b"timeout", "504 Gateway Timeout"),
    "a conflict": answers({"error": {"message": "under way"}}, "409 Conflict"),
}


@pytest.mark.parametrize("behave", UNUSABLE.values(), ids=UNUSABLE.keys())
@pytest.mark.parametrize("is_stream", [False, True])
def test_what_is_no_answer_is_the_operators_loss_and_is_not_sent_again(relay, behave, is_stream) -> None:
    relay.channel(Upstream(behave))
    relay.channel(second := Upstream(answers(completion())))
    client = relay.call(chat(stream=is_stream))
    assert (client.status, client.headers["x-should-retry"]) == (502, "false")
    assert second.requests == []
    assert client.headers["x-call-id"] == row().id
    assert (row().state, row().is_loss, row().outcome, relay.spent) == ("released", True, "unknown", 0)


@pytest.mark.parametrize("room", [1, 2])
def test_calls_beyond_the_places_of_a_process_or_an_account_are_told_to_come_back(relay, monkeypatch, room) -> None:
    monkeypatch.setattr(demands.settings, "RELAY_OUTPUT_TOKENS", 10)
    monkeypatch.setattr(in_flight.in_flight, "_room", room)
    asked, goes_on = asyncio.Event(), asyncio.Event()

    async def waits(talk: Talk) -> None:
        asked.set()
        await goes_on.wait()
        talk.reset()

    relay.channel(Upstream(waits))

    async def work() -> Client:
        call = asyncio.create_task(relay.ask())
        await asked.wait()
        second = await relay.ask()
        goes_on.set()
        await call
        return second

    client = relay.run(work)
    assert (client.status, client.headers["retry-after"], len(in_flight.in_flight)) == (429, "1", 0)


def test_an_upstreams_interim_answers_and_a_missing_content_type_do_no_harm(relay) -> None:
    async def hints(talk: Talk) -> None:
        await talk.say(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n")
        sent = json.dumps(completion()).encode()
        await talk.say(head(content_length=str(len(sent))), sent)

    relay.channel(Upstream(hints))
    assert relay.call().status == 200
