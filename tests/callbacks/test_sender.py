"""One attempt over real sockets: what is sent, what counts, and when it is given up."""

import json
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import OperationalError, connections
from standardwebhooks import Webhook

from accounts import keys
from callbacks import deliveries, sender, signing
from callbacks.claims import LEASE_SECONDS
from common.outgoing import dial
from common.outgoing.lookup import CUSTOMERS, customer
from common.urls import UrlPolicy
from tests import deadlines
from tests.adapters.raw_server import answer, raw_server
from tests.callbacks import behaviours, steps
from tests.silence import hanging
from tests.tasks.steps import asset

pytestmark = pytest.mark.django_db(transaction=True)


def sent(url, owed, **options):
    """What comes of the first attempt of a new delivery."""
    owed(url)
    return steps.sent(steps.claimed_one(), **options)


def parsed(request: bytes) -> tuple[dict[str, str], bytes]:
    head, _, body = request.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")[1:]
    return {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}, body


def verify(request: bytes, key: str):
    """The payload, as the official library sees it."""
    headers, body = parsed(request)
    made = signing.mac(
        key, delivery_id=headers["x-service-delivery"], timestamp=headers["x-service-timestamp"], body=body
    )
    assert headers["x-service-signature"] == f"v1={made.hex()}"
    return Webhook(steps.standard_secret(key)).verify(body, headers)


def test_the_payload_is_the_task_as_get_shows_it(owed, key, client_for):
    with raw_server(behaviours.OK) as server:
        outcome = sent(f"{server.url}/done", owed)
    headers, _ = parsed(server.requests[0])
    payload = verify(server.requests[0], key.secret)
    task_id = payload["data"]["task"]["id"]
    assert payload == {
        "id": f"{task_id}.1",
        "type": "task.succeeded",
        "created_at": int(headers["x-service-timestamp"]),
        "data": {"task": client_for(key).get(f"/v1/tasks/{task_id}").json()},
    }
    assert headers["x-service-delivery"] == payload["id"]
    assert headers["content-type"] == "application/json"
    assert int(outcome.at.timestamp()) == payload["created_at"]


def test_the_type_says_how_the_task_ended(owed, key):
    ways = ["succeeded", "failed", "timeout", "canceled"]
    with raw_server(behaviours.OK) as server:
        for status in ways:
            owed(server.url, status)
            steps.sent(steps.claimed_one())
    types = [verify(request, key.secret)["type"] for request in server.requests]
    assert types == [f"task.{status}" for status in ways]


def test_a_late_attempt_is_stamped_and_signed_anew(owed, key):
    with raw_server(behaviours.FAULT, behaviours.OK) as server:
        task_id = owed(server.url)
        for _ in range(2):
            due = steps.claimed_one()
            deliveries.record(due, steps.sent(due))
            steps.let_pass(task_id, 100_000)
    first, late = (verify(request, key.secret) for request in server.requests)
    assert first["id"] == late["id"]
    assert steps.state(task_id) == ("delivered", 2)


def test_the_timestamp_is_that_of_the_attempt(owed, key, make_task):
    with raw_server(behaviours.OK) as server:
        task_id = owed(server.url, finished_at=datetime.now(UTC) - timedelta(days=1))
        steps.sent(steps.claimed_one())
    payload = verify(server.requests[0], key.secret)  # the library refuses anything older than five minutes
    assert payload["data"]["task"]["id"] == task_id


def test_asset_urls_are_minted_for_every_attempt(owed, key):
    with raw_server(behaviours.OK) as server:
        task_id = owed(server.url)
        made = asset()
        fields = {name: getattr(made, name) for name in made.__dataclass_fields__}
        from_db = steps.delivery(task_id).task
        from_db.assets.create(position=0, **fields)
        steps.sent(steps.claimed_one())
    (shown,) = verify(server.requests[0], key.secret)["data"]["task"]["assets"]
    assert shown["url"].startswith(f"https://api.ours.example/assets/{task_id}/0.png?expires=")


def test_a_disabled_key_still_signs(owed, key):
    keys.disable(key.record)
    with raw_server(behaviours.OK) as server:
        assert sent(server.url, owed).is_delivered
    assert verify(server.requests[0], key.secret)


def test_a_rotated_key_signs_with_the_secret_that_submitted(owed, key):
    with raw_server(behaviours.OK) as server:
        owed(server.url)
        keys.rotate(key.record, grace_seconds=0)
        steps.sent(steps.claimed_one())
    assert verify(server.requests[0], key.secret)


@pytest.mark.parametrize("status", ["301 Moved", "410 Gone", "500 Oops"])
def test_any_answer_is_an_outcome_and_its_beginning_is_kept(owed, status):
    with raw_server(answer(b"why" * 10_000, status=status, headers={"Retry-After": "120"})) as server:
        outcome = sent(server.url, owed)
    assert outcome.retry_after == 120
    assert (outcome.status_code, outcome.error, outcome.is_delivered) == (int(status[:3]), "", False)
    assert outcome.excerpt == ("why" * 10_000)[:4096]


def test_a_redirect_is_not_followed(owed):
    with raw_server(behaviours.OK) as target, raw_server(behaviours.redirect(target.url)) as server:
        assert sent(server.url, owed).status_code == 302
    assert target.requests == []


@pytest.mark.parametrize(("status", "is_delivered"), [("200 OK", True), ("500 Oops", False)])
def test_an_endless_answer_is_left_after_a_little(owed, status, is_delivered):
    with raw_server(behaviours.endless(status)) as server:
        outcome = sent(server.url, owed)
    assert outcome.is_delivered is is_delivered
    assert len(outcome.excerpt) == 4096


@pytest.mark.parametrize("misbehave", [behaviours.hang, behaviours.drip_head])
def test_a_receiver_that_takes_for_ever_is_cut(owed, misbehave):
    over = threading.Event()
    with raw_server(misbehave(over)) as server, deadlines.ended_once(lambda: server.requests):
        outcome = sent(server.url, owed)
    over.set()
    assert (outcome.status_code, outcome.error) == (None, "the answer took too long")


BODIES = [
    (b"Content-Length: 9\r\n\r\nhalf", "half"),
    (b"Content-Length: 9999999999999999999\r\n\r\nhalf", "half"),
    (b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nnone\r\n", "half"),
    (b"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n9\r\nh", "half"),
    (b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf", "half"),
    (b"Content-Length: 9\r\n\r\n", ""),
]


@pytest.mark.parametrize("status", [b"200 OK", b"202 Accepted", b"500 Oops"])
def test_a_status_is_an_answer_whatever_becomes_of_its_body(owed, status):
    for rest, read in BODIES:
        whole = b"HTTP/1.1 " + status + b"\r\n" + rest
        with raw_server(lambda plain, _, whole=whole: plain.sendall(whole)) as server:
            outcome = sent(server.url, owed)
        assert (outcome.status_code, outcome.error) == (int(status[:3]), ""), rest
        assert outcome.excerpt.startswith(read), rest


def test_a_204_with_a_body_acknowledges(owed):
    with raw_server(answer(b"nothing", status="204 No Content")) as server:
        assert sent(server.url, owed).is_delivered


def test_a_body_that_never_ends_is_left_and_its_2xx_acknowledges(owed, caplog):
    caplog.set_level("DEBUG", logger="common.outgoing.wire")  # it tells when the head has been read
    over = threading.Event()
    with raw_server(behaviours.drip_body(over)) as server, deadlines.ended_once(lambda: "answered 200" in caplog.text):
        outcome = sent(server.url, owed)
    over.set()
    assert (outcome.status_code, outcome.error, outcome.is_delivered) == (200, "", True)


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nX-Half: a"])
def test_a_2xx_status_line_acknowledges_though_its_head_breaks_off(owed, head):
    with raw_server(lambda plain, _: plain.sendall(head)) as server:
        assert sent(server.url, owed).is_delivered


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 2", b"200 OK\r\n\r\n"])
def test_what_is_no_status_line_does_not_acknowledge(owed, head):
    with raw_server(lambda plain, _: plain.sendall(head)) as server:
        assert sent(server.url, owed).status_code is None


def test_a_reset_is_an_error_in_words(owed):
    with raw_server(behaviours.reset) as server:
        outcome = sent(server.url, owed)
    assert (outcome.status_code, outcome.error) == (None, "the connection broke off")


def test_nobody_listening_is_an_error_in_words_and_the_log_has_the_raw_one(owed, caplog):
    caplog.set_level("INFO")
    with raw_server(behaviours.OK) as server:
        pass
    assert sent(server.url, owed).error == "the connection was refused"
    assert "Errno" in caplog.text


def test_the_limits_are_five_seconds_to_connect_and_fifteen_in_all():
    assert (sender.LIMITS.connect_seconds, sender.LIMITS.total_seconds) == (5, 15)
    assert sender.deliver.__kwdefaults__["limits"] is sender.LIMITS
    assert sender.LIMITS.total_seconds < LEASE_SECONDS


def test_an_address_that_is_not_public_is_never_dialled(owed):
    with raw_server(behaviours.OK) as server:
        outcome = sent(server.url, owed, policy=UrlPolicy())
    assert (outcome.status_code, outcome.error) == (None, "the address is not allowed")
    assert server.requests == []


def test_no_connection_to_the_database_is_open_while_sending(owed):
    ours, seen = connections["default"], []

    def watch(plain, request):
        seen.append(ours.connection)
        behaviours.OK(plain, request)

    with raw_server(watch) as server:
        sent(server.url, owed)
    assert seen == [None]


def test_a_body_that_cannot_be_made_is_a_failed_attempt(owed, caplog):
    def broken(due, timestamp):
        raise RuntimeError("no such thing")

    owed()
    outcome = sender.deliver(steps.claimed_one(), broken, policy=steps.LOOPBACK)
    assert outcome.error == "the callback could not be made"
    assert "no such thing" in caplog.text


def test_an_account_whose_names_hang_fails_alone_and_reads_why(owed, key, other_key, monkeypatch):
    with raw_server(behaviours.OK) as server, hanging(customer(str(other_key.account.pk)), CUSTOMERS.each):
        url = f"http://localhost:{server.port}/"
        assert sent(url, owed).is_delivered
        monkeypatch.setattr(dial, "LOOKUP_SECONDS", 0.01)
        owed(url, of=other_key)
        assert steps.sent(steps.claimed_one()).error == "too many name lookups of this account hang"
        assert len(server.requests) == 1


def test_a_database_that_is_away_is_no_attempt(owed):
    def away(due, timestamp):
        raise OperationalError("away")

    owed()
    with pytest.raises(OperationalError):
        sender.deliver(steps.claimed_one(), away, policy=steps.LOOPBACK)


def test_neither_the_secret_nor_the_answer_is_logged(owed, key, caplog):
    caplog.set_level("DEBUG")
    with raw_server(answer(b"canary-in-the-answer", status="500 Oops")) as server:
        sent(f"{server.url}/?token=canary-in-the-query", owed)
    assert key.secret not in caplog.text
    assert "canary-in-the-answer" not in caplog.text


def test_names_beyond_ascii_are_sent_as_utf_8(owed, key):
    with raw_server(behaviours.OK) as server:
        owed(server.url, metadata={"größe": "☃"})
        steps.sent(steps.claimed_one())
    _, body = parsed(server.requests[0])
    assert "☃".encode() in body
    assert json.loads(body)["data"]["task"]["metadata"] == {"größe": "☃"}
