"""Where the SDKs put the key."""

import pytest

from common import redaction
from common.http.asgi import joined
from front import companions
from tests.scopes import scope

KEY, OTHER, THIRD = b"dr-task-1", b"dr-task-2", b"dr-task-3"
GOOGLE = "/v1beta/models/org/gem-1:generateContent"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([(b"x-api-key", KEY)], "Bearer dr-task-1"),
        ([(b"x-goog-api-key", KEY)], "Bearer dr-task-1"),
        ([(b"authorization", b"Bearer " + OTHER), (b"x-api-key", KEY)], "Bearer dr-task-2"),
        ([(b"x-goog-api-key", KEY), (b"x-api-key", OTHER)], "Bearer dr-task-2"),
        ([(b"x-goog-api-key", KEY), (b"x-api-key", b"")], "Bearer dr-task-1"),
        ([(b"x-api-key", KEY), (b"x-api-key", OTHER)], "Bearer dr-task-1,dr-task-2"),  # which opens nothing
        ([], ""),
    ],
)
def test_the_key_is_brought_to_authorization(sent, expected):
    request = scope("POST", "/v1/videos")
    request["headers"] += sent
    companions.bring_key(request)
    assert joined(request["headers"], b"authorization") == expected


@pytest.mark.parametrize(
    ("query", "sent", "expected", "left"),
    [
        ("key=dr-gen-1", [], "Bearer dr-gen-1", ""),
        ("alt=sse&key=dr%2Dgen-1&x=%20", [], "Bearer dr-gen-1", "alt=sse&x=%20"),
        ("%6bey=dr-gen-1&alt=sse", [], "Bearer dr-gen-1", "alt=sse"),
        ("key=dr-gen-1", [(b"x-goog-api-key", OTHER)], "Bearer dr-task-2", ""),
        ("key=dr-gen-1", [(b"authorization", b"Bearer " + OTHER)], "Bearer dr-task-2", ""),
        ("key=dr-gen-1&key=dr-gen-2", [], "Bearer dr-gen-1,dr-gen-2", ""),  # which opens nothing
        ("key=%E2%82%AC%0A", [], "Bearer \u20ac\n".encode().decode("latin-1"), ""),
        ("keys=1&monkey=2", [], "", "keys=1&monkey=2"),
        ("key", [], "", ""),
    ],
)
@pytest.mark.parametrize("path", [GOOGLE, "/v1/models/gem-1:countTokens", "/v1beta/models"])
def test_google_s_query_may_hold_the_key_and_loses_it(path, query, sent, expected, left):
    request = scope("POST", path, query)
    request["headers"] += sent
    companions.bring_key(request)
    assert (
        "".join(value.decode("latin-1") for name, value in request["headers"] if name == b"authorization") == expected
    )
    assert request["query_string"].decode() == left


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/messages", "/v1/models", "/v1/usage", "/v1/videos"])
def test_no_other_query_holds_a_key(path):
    request = scope("POST", path, "key=dr-gen-1")
    companions.bring_key(request)
    assert joined(request["headers"], b"authorization") == ""


def test_a_key_in_a_query_is_in_no_log():
    for query in ("?key=not-of-any-shape", "?alt=sse&key=not-of-any-shape", "?key=dr-gen-not-of-any-shape"):
        said = redaction.clean(f"asked {GOOGLE}{query} in vain")
        assert "shape" not in said
        assert said.endswith("in vain")
