"""A fast upstream in its own process, for an openai channel: `python -m bench.relay.upstream`.

It answers chat and image calls at once, and streams chats. Each frame has the time at which it was written
(time.monotonic, one clock for all processes of a machine), so that its reader knows how late it arrived. GET /_/report
returns how many calls of each kind arrived with the right key.
"""

import argparse
import asyncio
import base64
import json
import socket
import time
from collections import Counter

from bench.pictures import png
from bench.provider import split

BACKLOG = 4096
KEY = "bench-upstream"
"""Required Bearer token: the channel's credential, never a client's key."""
CHAT_MODEL, IMAGE_MODEL = "gpt-4o-mini", "gpt-image-1"
PICTURE_BYTES = 24 * 1024
SENTENCE = "The fox waits at the edge of the wood until the light has gone from the snow. "
FRAMES, FIRST_AFTER, EVERY = 32, 0.2, 0.025
"""A stream's number of text frames, seconds until the first, and seconds between frames."""
USAGE = {
    "prompt_tokens": 220,
    "completion_tokens": 64,
    "total_tokens": 284,
    "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
    "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
}
MOMENT = b'"content":"@%.6f"'
CHAT, IMAGES = b"/v1/chat/completions", b"/v1/images/generations"


def whole(document: object, status: bytes = b"200 OK") -> bytes:
    """Returns an answer with its head."""
    body = json.dumps(document).encode()
    head = b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % (status, len(body)) + body


def chat_answer() -> bytes:
    message = {"role": "assistant", "content": SENTENCE * 4, "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    named = {"id": "chatcmpl-bench", "object": "chat.completion", "created": 1_700_000_000, "model": CHAT_MODEL}
    return whole({**named, "choices": [choice], "usage": USAGE, "system_fingerprint": "fp_bench"})


def image_answer() -> bytes:
    picture = base64.b64encode(png(PICTURE_BYTES)).decode()
    details = {"image_tokens": 0, "text_tokens": 12}
    usage = {"input_tokens": 12, "output_tokens": 272, "total_tokens": 284, "input_tokens_details": details}
    return whole({"created": 1_700_000_000, "data": [{"b64_json": picture}], "usage": usage})


def frame(choices: bytes, rest: bytes = b"") -> bytes:
    """Returns one event as a chunk of the answer's body."""
    named = b'"id":"chatcmpl-bench","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o-mini"'
    event = b'data: {%b,"choices":[%b]%b}\n\n' % (named, choices, rest)
    return chunk(event)


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def text_frame() -> bytes:
    """Returns a frame with the current time."""
    moment = MOMENT % time.monotonic()
    return frame(b'{"index":0,"delta":{"role":"assistant",%b},"finish_reason":null}' % moment)


def last_frames(*, tells_usage: bool) -> bytes:
    stop = frame(b'{"index":0,"delta":{},"finish_reason":"stop"}')
    usage = frame(b"", b',"usage":' + json.dumps(USAGE).encode()) if tells_usage else b""
    return stop + usage + chunk(b"data: [DONE]\n\n") + b"0\r\n\r\n"


CHAT_ANSWER, IMAGE_ANSWER = chat_answer(), image_answer()
WRONG_KEY = whole({"error": {"message": "wrong key", "type": "invalid_request_error"}}, b"401 Unauthorized")
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


class UpstreamExchanges(asyncio.Protocol):
    """A kept-alive connection: one request after another."""

    def __init__(self, seen: Counter[str]) -> None:
        self.seen = seen
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while parsed := split(self.buffer):
            _, target, headers, body, self.buffer = parsed
            self.answer(target.encode(), headers, body)

    def answer(self, target: bytes, headers: bytes, body: bytes) -> None:
        if target == b"/_/report":
            return self.transport.write(whole(dict(self.seen)))
        if b"bearer %b" % KEY.encode() not in headers:
            self.seen["wrong key"] += 1
            return self.transport.write(WRONG_KEY)
        if target == IMAGES:
            self.seen["images"] += 1
            return self.transport.write(IMAGE_ANSWER)
        if target != CHAT:
            return self.transport.write(whole({"object": "list", "data": [{"id": CHAT_MODEL, "object": "model"}]}))
        self.seen["chat"] += 1
        if b'"stream":true' not in body.replace(b" ", b""):
            return self.transport.write(CHAT_ANSWER)
        return self.stream(tells_usage=b'"include_usage"' in body)

    def stream(self, *, tells_usage: bool, left: int = FRAMES) -> None:
        """Begins after a while, and sends frames while the client is connected."""
        asyncio.get_running_loop().call_later(FIRST_AFTER if left == FRAMES else EVERY, self.go_on, left, tells_usage)

    def go_on(self, left: int, tells_usage: bool) -> None:
        if self.transport.is_closing():
            return None
        if not left:
            return self.transport.write(last_frames(tells_usage=tells_usage))
        self.transport.write((STREAM_HEAD if left == FRAMES else b"") + text_frame())
        return self.stream(tells_usage=tells_usage, left=left - 1)


async def serve(port: int) -> None:
    listening = socket.create_server(("127.0.0.1", port), backlog=BACKLOG)
    seen = Counter[str]()
    server = await asyncio.get_running_loop().create_server(lambda: UpstreamExchanges(seen), sock=listening)
    print(f"upstream listening on http://127.0.0.1:{listening.getsockname()[1]}", flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(parser.parse_args().port))


if __name__ == "__main__":
    main()
