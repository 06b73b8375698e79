"""Where the SDKs put the key."""

import pytest

from common.asgi import joined
from front import companions
from tests.scopes import scope

KEY, OTHER = b"dr-task-1", b"dr-task-2"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        ([(b"x-api-key", KEY)], "Bearer dr-task-1"),
        ([(b"x-goog-api-key", KEY)], "Bearer dr-task-1"),
        ([(b"authorization", b"Bearer " + OTHER), (b"x-api-key", KEY)], "Bearer dr-task-2"),
        ([(b"x-api-key", KEY), (b"x-api-key", OTHER)], "Bearer dr-task-1,dr-task-2"),  # which opens nothing
        ([], ""),
    ],
)
def test_the_key_is_brought_to_authorization(sent, expected):
    request = scope("POST", "/v1/videos")
    request["headers"] += sent
    companions.bring_key(request)
    assert joined(request["headers"], b"authorization") == expected
