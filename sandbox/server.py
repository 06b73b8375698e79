"""Serves the sandbox on a socket and one event loop: in the foreground for `run_sandbox`, or on a thread for tests."""

import asyncio
import logging
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from sandbox.provider import Provider
from sandbox.streams import send_pieces
from sandbox.wire import (
    MAX_HEAD_BYTES,
    BrokenRequest,
    ClientReader,
    ConnectionCut,
    Request,
    Response,
    json_response,
    read_request,
    send,
)

logger = logging.getLogger(__name__)
Result = TypeVar("Result")

BACKLOG = 4_096
HANDOVER_SECONDS = 300.0


class Server:
    """Serves a provider on one address. All methods belong to the event loop that called `start`."""

    def __init__(self, provider: Provider) -> None:
        self._provider = provider
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.busy = 0

    async def start(self, host: str, port: int) -> int:
        """Listens and returns the port, which is chosen for port 0. Raises OSError."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._line, host, port, backlog=BACKLOG)
        bound: int = self._server.sockets[0].getsockname()[1]
        return bound

    async def close(self) -> None:
        """Stops at once: open connections are dropped."""
        if self._server:
            self._server.close()
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    def _line(self) -> asyncio.StreamReaderProtocol:
        """Creates a connection like `asyncio.start_server`, but with our own reader."""
        reader = ClientReader(limit=MAX_HEAD_BYTES)

        def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            connection = asyncio.get_running_loop().create_task(self._serve(reader, writer))
            self._connections.add(connection)
            connection.add_done_callback(self._connections.discard)

        return asyncio.StreamReaderProtocol(reader, connected)

    async def _serve(self, reader: ClientReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.set_write_buffer_limits(high=0)  # sends everything before a cut
        try:
            while await self._exchange(reader, writer):
                pass
            writer.close()
            await writer.wait_closed()
        except (ConnectionCut, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()

    async def _exchange(self, reader: ClientReader, writer: asyncio.StreamWriter) -> bool:
        """Serves one request; returns whether the connection continues."""
        try:
            request = await read_request(reader, writer)
        except BrokenRequest as broken:
            refusal = json_response(
                {"error": {"message": "Malformed request."}}, broken.status, {"connection": "close"}
            )
            await send(refusal, reader, writer, bodiless=False)
            return False
        if request is None:
            return False
        self.busy += 1
        try:
            response = await self._answer(request)
            if response.pieces:
                await send_pieces(response, response.pieces, reader, writer)
            else:
                await send(response, reader, writer, bodiless=request.method == "HEAD")
        finally:
            self.busy -= 1
        return request.headers.get("connection", "").lower() != "close"

    async def _answer(self, request: Request) -> Response:
        try:
            return await self._provider.answer(request)
        except Exception:
            logger.exception("sandbox: %s %s failed", request.method, request.path)
            return Response(status=500)


async def serve(provider: Provider, host: str, port: int, *, announce: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; calls `announce` with the origin once it listens. Raises OSError."""
    stopped = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopped.set)
    server = Server(provider)
    announce(f"http://{host}:{await server.start(host, port)}")
    await stopped.wait()
    await server.close()


class Sandbox:
    """A sandbox on its own thread during the `with` block; port 0 picks a free one."""

    def __init__(self, port: int = 0, *, host: str = "127.0.0.1", video_seconds: float = 1.0) -> None:
        self._host, self._port = host, port
        self._provider = Provider(video_seconds=video_seconds)
        self._server = Server(self._provider)
        self._ready: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="sandbox", daemon=True)

    @property
    def url(self) -> str:
        """Returns the origin without a slash at the end."""
        return f"http://{self._host}:{self._port}"

    @property
    def busy(self) -> int:
        """Returns how many requests are being answered; idle connections do not count."""
        return self._on_loop(lambda: self._server.busy)

    def audit(self) -> dict[str, Any]:
        """Returns what `GET /audit` does."""
        return self._on_loop(self._provider.audit)

    def reset(self) -> None:
        """Does what `POST /reset` does."""
        self._on_loop(self._provider.reset)

    def release(self) -> None:
        """Does what `POST /release` does."""
        self._on_loop(self._provider.release)

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.result()
        return self

    def __exit__(self, *exception: object) -> None:
        loop, stopped = self._ready.result()
        loop.call_soon_threadsafe(stopped.set)
        self._thread.join()

    async def _serve(self) -> None:
        stopped = asyncio.Event()
        try:
            self._port = await self._server.start(self._host, self._port)
        except OSError as error:
            self._ready.set_exception(error)
            return
        self._ready.set_result((asyncio.get_running_loop(), stopped))
        await stopped.wait()
        await self._server.close()

    def _on_loop(self, function: Callable[[], Result]) -> Result:
        """Runs the function on the thread that owns the provider's state; returns its result."""
        loop, _ = self._ready.result()
        answer: Future[Result] = Future()
        loop.call_soon_threadsafe(lambda: answer.set_result(function()))
        return answer.result(HANDOVER_SECONDS)
