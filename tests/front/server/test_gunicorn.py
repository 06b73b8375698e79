"""gunicorn is as our subclasses of it expect. After an upgrade compare its source with them, then change this table."""

import asyncio
import inspect
import socket

import gunicorn
import pytest
from gunicorn.asgi import protocol
from gunicorn.asgi.lifespan import LifespanManager
from gunicorn.asgi.parser import PythonProtocol
from gunicorn.asgi.protocol import ASGIProtocol, BodyReceiver
from gunicorn.workers.gasgi import ASGIWorker

from config import gunicorn as configured
from front.server import worker
from front.server.connection import HttpConnection
from front.server.worker import WebWorker
from relay.calls import times

OURS = {
    ASGIProtocol: (
        "__init__(self, worker)",
        "connection_made(self, transport)",
        "connection_lost(self, exc)",
        "data_received(self, data)",
        "_feed_callback_parser(self, data)",
        "_on_headers_complete(self)",
        "pause_writing(self)",
        "resume_writing(self)",
        "_arm_keepalive_timer(self)",
        "_cancel_keepalive_timer(self)",
        "_send_response_start(self, status, headers, request, close=False)",
        "_serve_http_request(self, request, sockname, peername)",
        "_close_transport(self)",
        "_send_error_response(self, status, message, extra_headers=())",
        "_is_websocket_upgrade(self, request)",
        "_safe_write(self, data)",
        "_pause_reading(self)",
        "_resume_reading(self)",
    ),
    BodyReceiver: ("_wake_waiter(self)",),
    PythonProtocol: ("feed(self, data)",),
    ASGIWorker: ("_serve(self)", "_shutdown(self)", "notify(self)"),
    LifespanManager: ("__init__(self, app, logger, state=None)", "startup(self)"),
}
READ = {
    ASGIProtocol: ("_closed", "_current_request", "_body_receiver", "_request_ready", "_callback_parser", "transport"),
    BodyReceiver: ("_body_wait_expired",),
    PythonProtocol: ("_buffer", "_headers_list", "http_version", "is_chunked"),
    ASGIWorker: (
        "sockets",
        "servers",
        "lifespan",
        "asgi",
        "state",
        "alive",
        "ppid",
        "loop",
        "cfg",
        "worker_connections",
    ),
}


def test_its_version_is_the_one_that_was_read():
    assert gunicorn.__version__.startswith("27.0.")


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_its_methods_have_the_shape_that_ours_have(kind):
    for shape in OURS[kind]:
        name = shape.partition("(")[0]
        assert f"{name}{inspect.signature(getattr(kind, name))}" == shape


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
def test_it_has_the_attributes_that_ours_read(kind):
    source = "".join(inspect.getsource(base) for base in kind.__mro__[:-1] if base.__module__.startswith("gunicorn"))
    for name in READ[kind]:
        assert f"self.{name} = " in source or f"self.{name}, " in source, name


def test_what_we_override_exists():
    for ours, theirs in ((HttpConnection, ASGIProtocol), (WebWorker, ASGIWorker)):
        private = {name for name, value in vars(ours).items() if inspect.isfunction(value)}
        overridden = {name for name in private if hasattr(theirs, name)}
        assert {shape.partition("(")[0] for shape in OURS[theirs]} >= overridden


def test_connections_ask_their_sockets_for_as_much_as_is_allocated_cheaply():
    async def made() -> int:
        ours, theirs = socket.socketpair()
        with theirs:
            transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
            transport.close()
            return transport.max_size

    assert asyncio.run(made()) == worker.RECEIVE_BYTES


def test_its_configuration_is_what_the_documents_say():
    assert (configured.keepalive, configured.timeout) == (75, 30)
    assert (configured.http_parser, configured.asgi_loop, configured.http_protocols) == ("python", "asyncio", "h1")
    assert (configured.http2_cleartext, configured.proxy_protocol) == ("off", "off")
    assert configured.worker_class == f"{WebWorker.__module__}.{WebWorker.__name__}"


@pytest.mark.parametrize(
    ("status", "words"), [(402, "Payment Required"), (426, "Upgrade Required"), (404, "Not Found")]
)
def test_every_status_has_its_words_on_the_wire(status, words):
    assert protocol._get_cached_status_line((1, 1), status) == f"HTTP/1.1 {status} {words}\r\n".encode()


def test_no_request_is_cancelled_while_the_answer_of_a_client_that_left_is_read() -> None:
    assert configured.asgi_disconnect_grace_period > times.ABANDONED_SECONDS
