"""Image calls that wait: what comes of the task, of the process, and of a client that leaves at each step."""

import asyncio
import base64
import gc
import json
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.utils import timezone

from common.concurrency import threads
from common.errors import StorageUnavailable
from common.http import front_body
from common.http.asgi import Message
from common.http.front_body import Body
from common.process import shutdown
from front import image_calls
from storage import blobs
from tasks.assets.assets import NewAsset
from tasks.events.hub import Hub
from tasks.intake import submission
from tasks.intake.drafts import Draft
from tasks.intake.submission import Outcome
from tasks.lifecycle import Success
from tasks.models import Asset, Task
from tasks_api import waiting
from tasks_api.openai import image_calls as calls
from tests.scopes import scope
from tests.tasks import steps
from tests.tasks_api import asking
from tests.tasks_api.asking import REJECTED
from tools.children import PATIENCE, wait_until

PATH = "/v1/images/generations"
PICTURE = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 2050  # no multiple of three, and more than one piece
HEIGHT = 48

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def hub(monkeypatch) -> Hub:
    """Of this test alone."""
    monkeypatch.setattr(image_calls, "hub", Hub())
    return image_calls.hub


@dataclass(slots=True)
class Client:
    """Of one call: what it has heard, and when it leaves. `reads` is awaited before each message is taken."""

    sent: list[Message] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    reads: Callable[[], Awaitable[object]] = lambda: asyncio.sleep(0)

    async def receive(self) -> Message:
        await self.left.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.reads()
        self.sent.append(message)

    @property
    def status(self) -> int:
        return self.sent[0]["status"] if self.sent else 0

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent[1:])

    @property
    def document(self) -> dict[str, Any]:
        return dict(json.loads(self.body))

    def header(self, name: bytes) -> str:
        return dict(self.sent[0]["headers"]).get(name, b"").decode()

    @property
    def refusal(self) -> tuple[int, str, str, str]:
        """Status and type of the error, what it says of trying again, and the task that it names."""
        error = self.document["error"]
        return self.status, error["type"], self.header(b"x-should-retry"), self.header(b"x-task-id")


@pytest.fixture
def call(key, image_model) -> Callable[..., Coroutine[Any, Any, None]]:
    """A call of the client through the real views."""

    def call(client: Client, *, path: str = PATH, prompt: str = "a boat", fields=(), **headers: str):
        body = front_body.empty()
        document = {"model": "aurora-image", "prompt": prompt, **dict(fields)}
        size = body.file.write(json.dumps(document).encode())
        body.file.seek(0)
        sent = {"authorization": f"Bearer {key.secret}", "content_type": "application/json", **headers}
        return image_calls.serve(
            scope("POST", path, **sent), Body(file=body.file, size=size), client.receive, client.send
        )

    return call


def run(scene: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(scene, PATIENCE))


async def queued() -> str:
    """The task of the call, once it waits for it."""
    while not image_calls.hub._waits:
        await asyncio.sleep(0.01)
    return str(next(iter(image_calls.hub._waits)))


def pictures(count: int = 1, **changes: Any) -> Success:
    stored = [blobs.put([PICTURE], max_bytes=len(PICTURE)) for _ in range(count)]
    facts = {"kind": "image", "content_type": "image/png", "width": 64, "height": HEIGHT, "duration_seconds": None}
    assets = (
        NewAsset(**{"storage_key": one.key, "size_bytes": one.size_bytes, "sha256": one.sha256, **facts, **changes})
        for one in stored
    )
    return Success(actual_micros=40_000, seconds=0, assets=tuple(assets))


async def ended(running: Coroutine[Any, Any, None], status: str = "succeeded", **outcome: Any) -> str:
    """The call is answered, after its task has ended like this."""
    serving = asyncio.create_task(running)
    task_id = await queued()
    if status == "succeeded" and not outcome:
        outcome = {"success": await threads.call(pictures)}
    await threads.call(lambda: asking.end(task_id, status, **outcome))
    await serving
    return task_id


@pytest.mark.parametrize(
    ("response_format", "names"), [(None, ["b64_json", "url"]), ("b64_json", ["b64_json"]), ("url", ["url"])]
)
def test_a_call_is_answered_with_its_pictures(call, response_format, names):
    client = Client()

    async def scene() -> str:
        success = await threads.call(pictures, 2)
        return await ended(call(client, fields={"response_format": response_format, "n": 2}), success=success)

    task_id = run(scene())
    task = Task.objects.get()
    assert (client.status, client.header(b"x-task-id")) == (200, task_id)
    assert client.header(b"content-length") == str(len(client.body))
    shown = client.document
    assert (shown["created"], shown["output_format"], shown["size"]) == (
        int(task.finished_at.timestamp()),
        "png",
        f"64x{HEIGHT}",
    )
    assert [list(item) for item in shown["data"]] == [names] * 2
    for number, item in enumerate(shown["data"]):
        assert base64.b64decode(item.get("b64_json", base64.b64encode(PICTURE)), validate=True) == PICTURE
        assert f"/assets/{task_id}/{number}.png?" in item.get("url", f"/assets/{task_id}/{number}.png?")


def test_what_pictures_do_not_share_is_not_said(call):
    client = Client()

    async def scene() -> None:
        success = await threads.call(pictures, 2)
        first, second = success.assets
        other = NewAsset(
            storage_key=second.storage_key,
            size_bytes=second.size_bytes,
            sha256=second.sha256,
            kind="image",
            content_type="image/webp",
            width=None,
            height=None,
            duration_seconds=None,
        )
        await ended(call(client), success=Success(actual_micros=1, seconds=0, assets=(first, other)))

    run(scene())
    assert list(client.document) == ["created", "data"]


def test_a_task_without_a_result_is_its_error(call):
    client = Client()
    task_id = run(ended(call(client), "failed", failure=REJECTED))
    assert client.refusal == (400, "TASK_CONTENT_REJECTED", "false", task_id)
    assert client.document["error"]["message"] == REJECTED.message


def test_a_task_that_somebody_cancels_is_said_to_be(call):
    client = Client()
    assert run(ended(call(client), "canceled")) == client.header(b"x-task-id")
    assert client.refusal[:3] == (400, "TASK_CANCELED", "false")


@pytest.fixture
def in_line() -> threading.Event:
    """Cleared, it keeps the views from going on behind their draft."""
    return threading.Event()


@pytest.fixture
def at_work() -> threading.Event:
    """Set once a view is about to put its draft in line."""
    return threading.Event()


@pytest.fixture
def held_group(monkeypatch, in_line, at_work) -> tuple["Future[Outcome]", list[Draft], Callable[[], None]]:
    """The future of the call's draft, the draft once the call knows it, and what writes its group."""
    promise: Future[Outcome] = Future()
    drafts: list[Draft] = []
    in_line.set()
    follow = calls.ImageCall.follow

    def add(draft: Draft) -> "Future[Outcome]":
        at_work.set()
        assert in_line.wait(PATIENCE)
        return promise

    def followed(self: calls.ImageCall, draft: Draft, promise: "Future[Outcome]") -> None:
        follow(self, draft, promise)
        drafts.append(draft)

    monkeypatch.setattr(calls.ImageCall, "follow", followed)

    def write() -> None:
        promise.set_result(threads.returning_connection(submission.submit_one, drafts[0]))

    monkeypatch.setattr(submission, "add", add)
    return promise, drafts, write


async def drafted(drafts: list[Draft]) -> None:
    while not drafts:
        await asyncio.sleep(0.01)


class MovedLoop(asyncio.SelectorEventLoop):
    """Its clock may go ahead, by so many seconds."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def run_out(scene: Callable[[Callable[[], None]], Coroutine[Any, Any, None]]) -> None:
    """The scene is given what lets the time of every call be over."""
    with asyncio.Runner(loop_factory=MovedLoop) as runner:
        loop = runner.get_loop()
        runner.run(scene(lambda: setattr(loop, "ahead", image_calls.SYNC_SECONDS)))


def test_a_call_whose_time_is_over_leaves_its_task_to_go_on(call):
    client = Client()

    async def scene(pass_time: Callable[[], None]) -> None:
        serving = asyncio.create_task(call(client))
        await queued()
        pass_time()
        await serving

    run_out(scene)
    task = Task.objects.get()
    assert client.refusal == (504, "TASK_TIMEOUT", "false", task.id)
    assert task.status == "queued"


def test_a_call_whose_time_is_over_before_its_turn_takes_its_draft_back(call, held_group):
    promise, drafts, _ = held_group
    client = Client()

    async def scene(pass_time: Callable[[], None]) -> None:
        serving = asyncio.create_task(call(client))
        await drafted(drafts)
        pass_time()
        await serving

    run_out(scene)
    assert promise.cancelled()
    assert client.refusal == (504, "TASK_TIMEOUT", "false", drafts[0].task_id)


def test_a_call_whose_time_is_over_while_its_group_is_written_does_not_begin_to_wait(call, held_group):
    promise, drafts, write = held_group
    client = Client()

    async def scene(pass_time: Callable[[], None]) -> None:
        async def slowly() -> None:
            await asyncio.get_running_loop().run_in_executor(None, write)
            await asyncio.gather(*(threads.call(int) for _ in range(threads.THREADS)))

        serving = asyncio.create_task(call(client))
        await drafted(drafts)
        assert promise.set_running_or_notify_cancel()
        client.reads = slowly
        promise.add_done_callback(lambda _: setattr(client, "reads", lambda: asyncio.sleep(0)))
        pass_time()
        await serving

    run_out(scene)
    assert client.refusal == (504, "TASK_TIMEOUT", "false", drafts[0].task_id)
    assert not calls._waiting
    wait_until(is_canceled)


def test_a_process_that_stops_says_so_and_the_task_goes_on(call, request):
    request.addfinalizer(lambda: shutdown.watch(lambda: True))
    shutdown.watch(lambda: False)
    client = Client()
    run(call(client))
    task = Task.objects.get()
    assert client.refusal == (503, "TASK_SERVICE_UNAVAILABLE", "false", task.id)
    assert task.status == "queued"


def test_pictures_that_are_gone_are_said_to_be(call):
    client = Client()

    async def scene() -> None:
        success = await threads.call(pictures)
        await threads.call(blobs.delete, success.assets[0].storage_key)
        await ended(call(client), success=success)

    run(scene())
    assert client.refusal[:3] == (503, "TASK_STORAGE_UNAVAILABLE", "false")
    Asset.objects.update(deleted_at=timezone.now())
    Task.objects.update(idempotency_key="k")
    again = Client()
    run(call(again, idempotency_key="k"))
    assert again.refusal[:3] == (410, "TASK_ASSET_EXPIRED", "false")


def test_an_answer_that_breaks_off_is_not_sent_as_if_it_were_whole(call):
    client = Client()

    async def scene() -> None:
        success = await threads.call(pictures, 2)
        await threads.call(blobs.delete, success.assets[1].storage_key)
        await ended(call(client), success=success)

    with pytest.raises(StorageUnavailable):
        run(scene())
    assert client.status == 200
    assert len(client.body) < int(client.header(b"content-length"))


def test_a_slow_reader_holds_no_thread_and_one_that_leaves_is_sent_no_more(call):
    client = Client()

    async def stalls() -> None:
        if len(client.sent) > 3:
            await threads_are_idle()
            client.left.set()
            await asyncio.sleep(0)

    client.reads = stalls
    run(ended(call(client)))
    assert len(client.body) < int(client.header(b"content-length"))
    assert Task.objects.get().status == "succeeded"


async def threads_are_idle() -> None:
    """What a client's leaving has asked for is done."""
    while threads.executor._running or threads.executor._waiting:
        await asyncio.sleep(0.01)


async def gone(client: Client, serving: "asyncio.Task[None]", how: str) -> None:
    """The client leaves, or the server ends its request."""
    if how == "leaves":
        client.left.set()
        await serving
    else:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


def is_canceled() -> bool:
    return list(Task.objects.values_list("status", flat=True)) == ["canceled"]


@pytest.mark.parametrize("how", ["leaves", "is cut off"])
def test_a_client_that_leaves_cancels_its_queued_task(call, key, how):
    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        await queued()
        await gone(client, serving, how)
        assert client.sent == []

    run(scene())
    wait_until(is_canceled)
    key.account.refresh_from_db()
    assert (key.account.held_micros, steps.breaches()) == (0, [])


def test_a_client_that_leaves_its_running_task_has_it_go_on(call):
    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        await threads.call(asking.start, await queued())
        await gone(client, serving, "leaves")
        await threads_are_idle()

    run(scene())
    assert Task.objects.get().status == "running"


def test_a_request_that_ends_with_its_process_leaves_its_task_alone(call, request):
    request.addfinalizer(lambda: shutdown.watch(lambda: True))

    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        await queued()
        image_calls.hub._guard.cancel()  # it would let the call go first
        shutdown.watch(lambda: False)
        await gone(client, serving, "is cut off")
        await threads_are_idle()

    run(scene())
    assert Task.objects.get().status == "queued"


@pytest.mark.parametrize("how", ["leaves", "is cut off"])
def test_a_draft_whose_group_has_not_begun_is_taken_back(call, held_group, how):
    promise, drafts, _ = held_group

    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        await drafted(drafts)
        await gone(client, serving, how)
        while not promise.cancelled():
            await asyncio.sleep(0.01)

    run(scene())


@pytest.mark.parametrize("how", ["leaves", "is cut off"])
def test_a_draft_whose_view_is_still_at_work_is_taken_back_as_soon_as_it_is_in_line(
    call, held_group, in_line, at_work, how
):
    promise, _, _ = held_group
    in_line.clear()

    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        assert await asyncio.to_thread(at_work.wait, PATIENCE)
        await gone(client, serving, how)
        in_line.set()
        while not promise.cancelled():
            await asyncio.sleep(0.01)

    run(scene())


@pytest.mark.parametrize("how", ["leaves", "is cut off"])
def test_a_draft_whose_group_is_being_written_is_canceled_once_it_is_a_task(call, held_group, how):
    promise, drafts, write = held_group

    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        await drafted(drafts)
        assert promise.set_running_or_notify_cancel()
        await gone(client, serving, how)
        await asyncio.get_running_loop().run_in_executor(None, write)
        await asyncio.sleep(0)  # the loop hears of it

    run(scene())
    wait_until(is_canceled)


def test_a_replay_waits_for_the_same_task_and_says_so(call):
    first, second = Client(), Client()

    async def scene() -> None:
        serving = asyncio.create_task(call(first, idempotency_key="k"))
        task_id = await queued()
        again = asyncio.create_task(call(second, prompt="two boats", idempotency_key="k"))
        while len(image_calls.hub._waits[task_id]) < 2:
            await asyncio.sleep(0.01)
        success = await threads.call(pictures)
        await threads.call(lambda: asking.end(task_id, "succeeded", success=success))
        await asyncio.gather(serving, again)

    run(scene())
    assert first.document["data"][0]["b64_json"] == second.document["data"][0]["b64_json"]
    assert (first.header(b"idempotency-replayed"), second.header(b"idempotency-replayed")) == ("", "true")
    assert second.header(b"idempotency-body-mismatch") == "true"
    assert Task.objects.count() == 1


def test_a_task_for_which_another_call_waits_is_canceled_when_that_leaves_too(call):
    async def scene() -> None:
        first, second = Client(), Client()
        serving = asyncio.create_task(call(first, idempotency_key="k"))
        task_id = await queued()
        again = asyncio.create_task(call(second, idempotency_key="k"))
        while calls._waiting[task_id] < 2:
            await asyncio.sleep(0.01)
        await gone(first, serving, "leaves")
        await threads_are_idle()
        assert (await threads.call(Task.objects.get)).status == "queued"
        await gone(second, again, "leaves")

    run(scene())
    wait_until(is_canceled)
    assert not calls._waiting
    assert not calls._left


def test_a_replay_that_leaves_cancels_nobody_elses_task(call, key):
    steps.submitted(key, idempotency_key="k")

    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client, idempotency_key="k"))
        await queued()
        await gone(client, serving, "leaves")
        await threads_are_idle()

    run(scene())
    assert Task.objects.get().status == "queued"


def test_replays_that_wait_are_counted_and_calls_of_their_own_task_are_not(call, key, monkeypatch):
    monkeypatch.setattr(waiting, "REPLAYS_PER_KEY", 0)
    client, again = Client(), Client()

    async def scene() -> str:
        serving = asyncio.create_task(call(client, idempotency_key="k"))
        task_id = await queued()
        await call(again, idempotency_key="k")
        await threads.call(lambda: asking.end(task_id, "succeeded", success=pictures()))
        await serving
        return task_id

    task_id = run(scene())
    assert again.refusal == (429, "TASK_RATE_LIMITED", "false", task_id)
    assert client.status == 200


def test_a_replay_of_what_has_ended_waits_for_nothing(call, hub, monkeypatch):
    monkeypatch.setattr(waiting, "REPLAYS_PER_KEY", 0)
    client, again = Client(), Client()
    run(ended(call(client, idempotency_key="k")))
    run(call(again, idempotency_key="k"))
    assert (again.status, again.document["created"]) == (200, client.document["created"])


def test_a_call_that_waits_keeps_nothing_of_what_was_sent(call):
    async def scene() -> None:
        client = Client()
        serving = asyncio.create_task(call(client))
        task_id = await queued()
        gc.collect()
        assert not [each for each in gc.get_objects() if isinstance(each, Draft) and each.task_id == task_id]
        await gone(client, serving, "leaves")

    run(scene())


def test_many_calls_of_one_idempotency_key_all_get_its_picture(call):
    clients = [Client() for _ in range(waiting.WAITS_PER_KEY + 4)]

    async def scene() -> None:
        servings = [asyncio.create_task(call(client, idempotency_key="k")) for client in clients]
        while sum(calls._waiting.values()) < len(clients) and not any(serving.done() for serving in servings):
            await asyncio.sleep(0.01)
        success = await threads.call(pictures)
        await threads.call(lambda: asking.end(Task.objects.get().id, "succeeded", success=success))
        await asyncio.gather(*servings)

    run(scene())
    assert {client.status for client in clients} == {200}
    assert not waiting.replays


def test_what_is_refused_before_it_is_a_task_names_none_and_is_not_repeated(call):
    client = Client()
    run(call(client, fields={"n": 99}))
    assert client.refusal == (400, "TASK_INVALID_REQUEST", "false", "")
