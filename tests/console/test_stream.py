"""The console's event stream from a real front: of whom a session is, and for as long as it is one."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import keys
from console import sessions, stream
from console.models import Session
from tests.rows import IssuedKey, make_task
from tests.tasks import steps
from tests.tasks.events.writing import write
from tests.tasks_api.stream import sse
from tests.tasks_api.stream.conftest import port, web
from tests.tasks_api.stream.sse import Client

__all__ = ["port", "web"]
pytestmark = pytest.mark.django_db(transaction=True)

HEARTBEAT = 'event: heartbeat\ndata: {"seconds": 0.1}'  # of tests.front.settings
Watch = Callable[..., Client]


@pytest.fixture
def watch(port: int) -> Iterator[Watch]:
    """Opens a stream by the cookie of a new session of the key, or by this token."""
    clients: list[Client] = []

    def watch(key: IssuedKey | None = None, *, token: str = "", query: str = "", method: str = "GET") -> Client:
        cookie = token or sessions.begin(key.secret)
        lines = [f"{method} {stream.PATH}{query} HTTP/1.1", "Host: 127.0.0.1", f"Cookie: {sessions.COOKIE}={cookie}"]
        clients.append(Client(port, "\r\n".join([*lines, "", ""]).encode()))
        return clients[-1]

    yield watch
    for client in clients:
        client.socket.close()


def told(client: Client) -> sse.Frame:
    """The next event of a task."""
    while (frame := client.events(1)[0]).event == "heartbeat":
        pass
    return frame


def test_a_session_hears_of_its_keys_tasks_and_no_others(watch, key, other_key, image_model):
    client = watch(key).placed()
    steps.submitted(other_key)
    task_id = steps.submitted(key)
    frame = told(client)
    assert (frame.event, frame.seen) == ("task.updated", (task_id, "queued"))
    assert told(watch(key, query=f"?after={frame.id - 1}")).seen == (task_id, "queued")


def test_its_heartbeats_reach_a_script_and_move_no_cursor(watch, key):
    client = watch(key).placed()
    assert [client.next().text for _ in range(2)] == [HEARTBEAT] * 2


def sign_out(token: str) -> None:
    sessions.end(token)


def expire(token: str) -> None:
    Session.objects.filter(digest=sessions.digest(token)).update(expires_at=timezone.now() - timedelta(seconds=1))


def disable(token: str) -> None:
    keys.disable(Session.objects.get(digest=sessions.digest(token)).key)


@pytest.mark.parametrize("change", [sign_out, expire, disable])
def test_a_stream_ends_with_its_session_and_others_go_on(watch, key, other_key, change):
    token = sessions.begin(key.secret)
    client, other = watch(token=token).placed(), watch(other_key).placed()
    change(token)
    client.wait_for_end()
    write(task := make_task(other_key))
    assert told(other).seen == (task.id, "running")
    refused = watch(token=token)
    assert (refused.error()["type"], refused.parser.status) == ("authentication_error", 401)


def test_signing_out_leaves_the_keys_other_sessions_their_stream(watch, key):
    token = sessions.begin(key.secret)
    client, other = watch(token=token).placed(), watch(key).placed()
    sessions.end(token)
    client.wait_for_end()
    write(task := make_task(key))
    assert told(other).seen == (task.id, "running")


def test_streams_of_a_key_are_counted_over_sessions_and_secrets(watch, key, port):
    tokens = [sessions.begin(key.secret) for _ in range(2)]
    opened = [watch(token=tokens[number % 2]).placed() for number in range(4)]
    opened.append(Client(port, sse.request(key.secret)).placed())
    refused = watch(key)
    assert (refused.error()["type"], refused.parser.status) == ("TASK_STREAM_LIMIT_EXCEEDED", 429)
    opened[-1].socket.close()


def test_what_is_no_stream_is_refused(watch, key):
    for method in ("POST", "HEAD", "DELETE"):
        client = watch(key, method=method).head()
        assert (client.parser.status, client.parser.headers["allow"]) == (405, "GET"), method
    assert watch(token="unknown").error()["type"] == "authentication_error"


def test_an_unknown_cursor_resets_it(watch, key):
    client = watch(key, query="?after=soon")
    assert told(client).event == "stream.reset"


def test_the_api_s_own_stream_opens_to_no_session(key, port):
    token = sessions.begin(key.secret)
    client = Client(
        port, f"GET {sse.PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {sessions.COOKIE}={token}\r\n\r\n".encode()
    )
    assert client.error()["type"] == "authentication_error"
    client.socket.close()
