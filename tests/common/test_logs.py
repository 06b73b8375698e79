"""Log lines: one JSON object each, with the ids of the request and the task, and without secrets."""

import json
import logging
import logging.config
from collections.abc import Iterator
from hashlib import sha256
from io import StringIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common import logs, redaction

FERNET = "gAAAAABl" + "x" * 60
PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 40


@pytest.fixture
def written() -> Iterator[StringIO]:
    """What a logger named `canary` writes."""
    configuration = logs.configuration()
    stream = StringIO()
    handler = logging.StreamHandler(stream)
    handler.addFilter(logs.ServerFaults())
    handler.addFilter(logs.Redaction())
    handler.setFormatter(logs.JsonLines())
    assert configuration["handlers"]["stderr"]["filters"] == ["faults", "redaction"]
    names = ("canary", "django.request", "django.security.DisallowedHost")
    for name in names:
        logging.getLogger(name).addHandler(handler)
    yield stream
    for name in names:
        logging.getLogger(name).removeHandler(handler)


@pytest.fixture
def logger(written) -> logging.Logger:
    return logging.getLogger("canary")


def lines(written: StringIO) -> list[dict]:
    return [json.loads(line) for line in written.getvalue().splitlines()]


def test_a_line_is_one_json_object(logger, written):
    logger.warning("first\nsecond %s", 3, extra={"channel": "studio", "cost": 4})
    (line,) = lines(written)
    assert (line["level"], line["logger"], line["message"]) == ("WARNING", "canary", "first\nsecond 3")
    assert (line["channel"], line["cost"]) == ("studio", 4)
    assert line["time"].endswith("Z")


def test_a_line_names_the_request_and_the_bound_task(logger, written):
    logs.adopt_request_id("request-7")
    with logs.bind(task_id="task_1"), logs.bind(attempt=2):
        logger.warning("inside")
    logger.warning("outside")
    inside, outside = lines(written)
    assert (inside["request_id"], inside["task_id"], inside["attempt"]) == ("request-7", "task_1", 2)
    assert "task_id" not in outside


KEYS = [
    "dr-task-AbCdEf012345_-xyz",
    "dr-gen-AbCdEf012345",
    "sk-proj-abcdefghijkl",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    FERNET,
]
TEXTS = [
    "Authorization: Bearer canary-value",
    "{'Authorization': 'Token canary-value'}",
    '{\\"api_key\\": \\"canary-value\\"}',
    '{"x-goog-api-key": "canary-value"}',
    "password=canary-value",
    "Bearer canary-value",
    "postgres://darkroom:canary-value@db/darkroom",
    "GET https://cdn.example/a.png?X-Amz-Signature=canary-value&X-Amz-Expires=60 failed",
    "/assets/task_1/0.png?expires=1&signature=canary-value",
    "Signature=canary-value",
    "GET /v1beta/models/x:generateContent?key=canary-value",
    "Cookie: sessionid=canary-value; csrftoken=canary-value",
]


def test_keys_are_removed_by_their_shape(logger, written):
    for secret in KEYS:
        logger.warning("used %s and " + secret, secret, extra={"seen": {"deep": [secret]}})
        assert secret not in written.getvalue()


def test_credentials_are_removed_by_their_place(logger, written):
    for text in TEXTS:
        logger.warning(text)
        assert "canary-value" not in written.getvalue(), text


def test_a_field_with_a_secret_name_is_removed(logger, written):
    for name in ("authorization", "api_key", "Password", "client_secret", "access_token", "ciphertext"):
        logger.warning("call", extra={"headers": {name: "canary-value"}})
        assert "canary-value" not in written.getvalue(), name


def test_a_known_secret_is_removed_whatever_its_shape(logger, written):
    redaction.redact("plain-looking words")
    logger.warning("the plain-looking words appear")
    assert "plain-looking" not in written.getvalue()


def test_a_data_url_becomes_its_length_and_digest(logger, written):
    logger.warning("input %s.", {"image_url": PICTURE})
    payload = PICTURE.partition(",")[2]
    assert payload[:20] not in written.getvalue()
    assert f"[{len(payload)} characters, sha256 {sha256(payload.encode()).hexdigest()[:12]}]" in written.getvalue()


def test_tracebacks_are_cleaned(logger, written):
    try:
        raise ValueError("dr-task-canary-value")
    except ValueError:
        logger.exception("failed")
    (line,) = lines(written)
    assert "ValueError" in line["traceback"]
    assert "canary-value" not in written.getvalue()


def test_arguments_that_do_not_fit_are_still_logged(logger, written):
    logger.warning("one %d", "two", "dr-task-canary-value")
    assert "two" in written.getvalue()
    assert "canary-value" not in written.getvalue()


def test_of_djangos_request_lines_only_faults_are_kept(written):
    django = logging.getLogger("django.request")
    django.warning("Not Found: /v1/x")
    django.error("Service Unavailable: /v1/x")
    django.error("Internal Server Error: /v1/x", exc_info=ValueError("broken"))
    assert [line["message"] for line in lines(written)] == ["Internal Server Error: /v1/x"]


def test_what_a_client_sends_makes_no_traceback(written):
    logging.getLogger("django.security.DisallowedHost").error("Invalid Host", exc_info=ValueError("evil"))
    (line,) = lines(written)
    assert (line["level"], "traceback" in line) == ("WARNING", False)


def test_ordinary_words_stay():
    text = "task_01 of key 12 failed: the token count, a secret garden, https://studio.example/v1/images and 3 credits"
    assert redaction.clean(text) == text


@given(st.text(max_size=300))
def test_any_text_can_be_cleaned_again_without_change(text):
    once = redaction.clean(text)
    assert redaction.clean(once) == once


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_key_is_removed_wherever_it_stands(before, after):
    assert "Qq7canary" not in redaction.clean(f"{before}dr-task-Qq7canary {after}")


WORDS = [*KEYS, *TEXTS, PICTURE, "?", "&", "sig=", "canary-value", "sk_", "ſk-", "baſic ", " ", ": ", "x" * 200]


@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=4).map("".join))
def test_a_shape_that_is_passed_over_would_have_found_nothing(text):
    whole = redaction.DATA_URL.sub(redaction._data_url, text)
    for _, shape, replacement in redaction.SHAPES:
        whole = shape.sub(replacement, whole)
    assert redaction.clean(text) == (whole if len(text) >= redaction.SHORTEST_SECRET else text)


@pytest.mark.parametrize("number", range(len(redaction.SHAPES)))
def test_whatever_a_shape_matches_has_one_of_its_words(number):
    words, shape, _ = redaction.SHAPES[number]

    @settings(max_examples=50)
    @given(st.from_regex(shape))
    def look(text):
        assert any(word in redaction.hints_of(text) for word in words)

    look()
