"""One MAC in two header families."""

import hashlib
import hmac
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from callbacks import signing
from tests.callbacks import steps

KEY = "dr-task-0123456789abcdefghijklmnopqrstuvwxyzABCDEFG"
BODY = '{"id":"task_x.1","name":"Füchse"}'.encode()


def signed(timestamp: int, body: bytes = BODY) -> dict[str, str]:
    return signing.headers(KEY, delivery_id="task_x.1", timestamp=timestamp, body=body)


def test_the_signed_bytes_are_delivery_timestamp_and_raw_body():
    expected = hmac.new(KEY.encode(), b"task_x.1.1795255446." + BODY, hashlib.sha256).hexdigest()
    assert signed(1795255446)["X-SERVICE-Signature"] == f"v1={expected}"


def test_both_families_name_the_same_delivery_and_time():
    headers = signed(1795255446)
    assert headers["X-SERVICE-Delivery"] == headers["webhook-id"] == "task_x.1"
    assert headers["X-SERVICE-Timestamp"] == headers["webhook-timestamp"] == "1795255446"


@given(body=st.text().map(str.encode))
def test_the_official_library_verifies_any_body(body):
    Webhook(steps.standard_secret(KEY)).verify(body, signed(int(time.time()), body), json_parse=False)


def test_the_official_library_refuses_another_key_and_another_body():
    with pytest.raises(WebhookVerificationError):
        Webhook(steps.standard_secret("dr-task-other")).verify(BODY, signed(int(time.time())))
    with pytest.raises(WebhookVerificationError):
        Webhook(steps.standard_secret(KEY)).verify(BODY + b" ", signed(int(time.time())))


def test_a_signature_of_either_family_is_recognised():
    headers = signed(1)
    made = signing.mac(KEY, delivery_id="task_x.1", timestamp="1", body=BODY)
    assert signing.is_genuine(headers["X-SERVICE-Signature"], made)
    assert signing.is_genuine(f"v1,{'A' * 43}= {headers['webhook-signature']}", made)


def test_anything_else_is_no_signature():
    made = signing.mac(KEY, delivery_id="task_x.1", timestamp="1", body=BODY)
    assert not [
        text for text in ("", "v1=", "v1,", "v2=abc", "ü", "v1=" + "0" * 64, " ") if signing.is_genuine(text, made)
    ]
