"""Calls of a general key through the relay, to upstreams of the same event loop, as a server would make them."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field, replace
from tempfile import SpooledTemporaryFile
from typing import Any

from accounts.models import Account, Group
from billing.models import RelayedCall
from catalog import snapshot
from catalog.models import Channel, GroupChannel, GroupOffer
from common.concurrency import threads
from common.errors import ApiError
from common.http import dialects
from common.http.asgi import Message, error_answer
from common.http.front_body import Body
from relay.admission import RelayCaller
from relay.calls import serving
from relay.families import registry
from relay.wire import upstream
from tasks import ledger_check
from tests.relay.general import make_general_key
from tests.relay.upstreams import Upstream, hurry
from tests.rows import IssuedKey, make_channel
from tests.scopes import scope
from tests.threads import joined

CHAT = "/v1/chat/completions"
# Micro-USD a token: 2 in, 8 out.
PRICES = {"gpt-*": {"input": 2, "output": 8}}


@dataclass(slots=True)
class Client:
    """Of one call: what it has heard, and when it leaves; `is_watched`: the call has heard of that. `reads` is awaited
    before each message is taken."""

    sent: list[Message] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    is_watched: bool = False
    reads: Callable[["Client"], Awaitable[object]] | None = None

    async def receive(self) -> Message:
        await self.left.wait()
        self.is_watched = True
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if self.reads:
            await self.reads(self)
        self.sent.append(message)

    async def kept_waiting(self) -> None:
        """Time passes until the last that it has heard is a sign of life."""
        while not self.sent or self.sent[-1].get("body") != b"\n":
            hurry(5)
            await asyncio.sleep(0.001)

    @property
    def status(self) -> int:
        return int(self.sent[0]["status"]) if self.sent else 0

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def error(self) -> dict[str, Any]:
        return dict(json.loads(self.body)["error"])

    @property
    def has_end(self) -> bool:
        return bool(self.sent) and not self.sent[-1].get("more_body", False)


def chat(**changed: Any) -> dict[str, Any]:
    return {"model": "gpt-5", "messages": [{"role": "user", "content": "Hello"}], **changed}


def completion(**changed: Any) -> dict[str, Any]:
    """A whole answer that costs 100 * 2 + 10 * 8 = 280 micro-USD."""
    message = {"role": "assistant", "content": "Hi."}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    given = {"id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": choices}
    return {**given, "usage": usage, **changed}


def delta(text: str, **changed: Any) -> dict[str, Any]:
    """One chunk of a stream."""
    choices = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt-5", "choices": choices, **changed}


def last_delta() -> dict[str, Any]:
    return delta("", choices=[{"index": 0, "delta": {}, "finish_reason": "stop"}])


def used(inputs: int = 100, outputs: int = 10) -> dict[str, Any]:
    """The chunk that tells the usage: 280 micro-USD as a rule."""
    usage = {"prompt_tokens": inputs, "completion_tokens": outputs, "total_tokens": inputs + outputs}
    return delta("", choices=[], usage=usage)


TEXT_STREAM = (delta("Hel"), delta("lo."), last_delta(), used(), "[DONE]")


def probes() -> list[threading.Thread]:
    """Those of refused credentials that are under way."""
    return [thread for thread in threading.enumerate() if thread.name == "probe"]


class Relay:
    """A general key with its group; channels are added in order of priority."""

    def __init__(self, account: Account, platform: str = "openai", **offer: Any) -> None:
        self.group = Group.objects.create(name="text", platform=platform, image_generation=True)
        GroupOffer.objects.create(group=self.group, **{"prices": PRICES, **offer})
        self.key: IssuedKey = make_general_key(account, self.group)
        self.upstreams: list[Upstream] = []

    def channel(self, upstream: Upstream, name: str = "", **link: Any) -> Channel:
        number = len(self.upstreams)
        base = f"{upstream.url}/v1" if self.group.platform == "openai" else upstream.url
        self.upstreams.append(upstream)
        channel = make_channel(name or f"upstream-{number}", f"{self.group.platform}_relay", base)
        GroupChannel.objects.create(group=self.group, channel=channel, **{"priority": number, **link})
        return channel

    def call(self, body: Any = None, *, client: Client | None = None, path: str = CHAT, **headers: str) -> Client:
        """One call, with all upstreams listening."""
        return self.run(lambda: self.ask(body, client=client, path=path, **headers))

    def run(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        async def whole() -> Any:
            for upstream_there in self.upstreams:
                await upstream_there.__aenter__()
            try:
                return await work()
            finally:
                await asyncio.to_thread(joined, *probes())
                for upstream_there in self.upstreams:
                    await upstream_there.__aexit__()
                await upstream.close()

        return asyncio.run(whole())

    async def ask(self, body: Any = None, *, client: Client | None = None, path: str = CHAT, **headers: str) -> Client:
        """One call, with its error written as the front does."""
        client = client or Client()
        sent = body if isinstance(body, bytes) else json.dumps(chat() if body is None else body).encode()
        path, _, query = path.partition("?")
        asked = scope("POST", path, query, **{"content-type": "application/json", **headers})
        try:
            await self._serve(asked, sent, client)
        except ApiError as error:
            if not client.sent:
                await error_answer(error, dialect=dialects.of(path)).send(client.send)
        return client

    async def _serve(self, asked: Any, sent: bytes, client: Client) -> None:
        family, path = registry.find_family("POST", asked["path"])
        path = replace(path, query=asked["query_string"].decode())
        caller = await threads.call(self._caller)
        group = (await threads.call(snapshot.latest)).group(self.group.pk)
        threads.share.set(threads.of_account(caller.account_id))
        file = SpooledTemporaryFile(max_size=256 * 1024)  # noqa: SIM115
        file.write(sent)
        file.seek(0)
        body = Body(file=file, size=len(sent))
        try:
            await serving.serve(caller, group, family, path, asked, body, client.receive, client.send)
        finally:
            body.close()

    def _caller(self) -> RelayCaller:
        account = Account.objects.get(pk=self.key.account.pk)
        return RelayCaller(
            key_id=self.key.id,
            account_id=account.pk,
            is_subscription=account.billing == "subscription",
            catalog_version=snapshot.latest().version,
        )

    @property
    def spent(self) -> int:
        """Micro-USD of the ten dollars, once the books are balanced and nothing is held."""
        account = Account.objects.get(pk=self.key.account.pk)
        assert not ledger_check.check().breaches
        assert account.held_micros == 0
        return 10_000_000 - account.balance_micros


def row() -> RelayedCall:
    """The only call in the books."""
    return RelayedCall.objects.get()
