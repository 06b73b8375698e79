"""Synchronous image calls whose client leaves or whose web process is killed, and five hundred that wait at once.

Whatever becomes of the call, its task goes its way: bought at most once, charged once, readable by its id.
"""

import base64
import http.client
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil
import pytest
from django.db import connection
from PIL import Image

from accounts.models import ApiKey
from common import sql
from common.concurrency import threads
from tasks import lifecycle
from tasks.models import Task
from tests.adapters.raw_server import answer, raw_server
from tests.faults.calling import Call
from tests.faults.scenes import end_waiting_sessions, ended, held, kill_serving, serving, waits_for
from tests.rows import IssuedKey, make_account, make_channel, make_key, make_model, make_route
from tests.tasks import steps
from tests.worker.driving import task
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="nobody else can tell who waits")

PATIENT = {"DJANGO_SETTINGS_MODULE": "tests.faults.patient_settings"}
BROKEN = (http.client.HTTPException, ConnectionError)
WAITING = 500
OWN_THREADS = 12  # of a web process, beside those that are dealt


@pytest.fixture
def waiting_key(key) -> IssuedKey:
    """Of the same account; its tasks stay in the queue until `let_run`."""
    return make_key(key.account, "waiting", max_running=0)


def let_run() -> None:
    ApiKey.objects.update(max_running=20)


@pytest.fixture
def call(crew, image_model) -> Iterator[Callable[..., tuple[Call, str]]]:
    """Asks for a picture, and comes back with the id of its task as soon as that is committed."""
    calls: list[Call] = []

    def call(key: IssuedKey, prompt: str, **options: object) -> tuple[Call, str]:
        known = set(Task.objects.values_list("id", flat=True))
        calls.append(Call(crew, key.secret, prompt, **options))
        (task_id,) = wait_until(lambda: set(Task.objects.values_list("id", flat=True)) - known, what="the task")
        return calls[-1], task_id

    yield call
    for made in calls:
        made.leave()


@pytest.fixture
def loud_model(plan) -> Iterator[str]:
    """Its pictures are larger than what two systems keep for a client that does not read."""
    file = io.BytesIO()
    Image.frombytes("RGB", (1536, 1024), os.urandom(1536 * 1024 * 3)).save(file, "png", compress_level=0)
    body = b'{"data": [{"b64_json": "%s"}]}' % base64.b64encode(file.getvalue())
    with raw_server(answer(body, headers={"Content-Type": "application/json"})) as provider:
        model = make_model("loud-image", "image", plan=plan, prices={"*": "0.04"}, pricing_mode="per_request")
        make_route(plan, model, make_channel("loud", "openai_images", provider.url), upstream_model="gpt-image-2")
        yield model.name


def are_paid_and_readable(crew, tasks: dict[str, IssuedKey]) -> None:
    """All that was made was charged once, and its keys find it by its id though it is in no list."""
    assert ended(*tasks) == ["succeeded"] * len(tasks)
    for task_id, key in tasks.items():
        assert (task(task_id).origin, task(task_id).actual_micros) == ("sync", 40_000)
        with crew.client(key.secret) as client:
            assert client.get(f"/v1/tasks/{task_id}").json()["actual_cost"] == 0.04
            assert client.get(f"/v1/tasks/{task_id}/assets/0").content.startswith(b"\x89PNG")
            assert client.get("/v1/tasks").json()["data"] == []
            assert client.get("/v1/tasks/usage").json()["balance"] == pytest.approx(10 - 0.04 * len(tasks))


@pytest.mark.once
def test_a_client_that_leaves_cancels_what_is_queued_and_has_paid_for_what_is_bought(
    crew, start_web, start_worker, sandbox, key, waiting_key, call
):
    web = start_web()
    start_worker()
    queued_call, queued = call(waiting_key, "a fox")
    bought_call, bought = call(key, "a hen [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    queued_call.leave()
    bought_call.leave()
    web.wait_for_line(r"(?s)(images/generations 499.*){2}")  # the front has noticed both
    assert ended(queued) == ["canceled"]
    let_run()
    sandbox.release()
    are_paid_and_readable(crew, {bought: key})
    assert (task(queued).actual_micros, sandbox.audit()["jobs"]) == (0, 1)


@on_postgresql
def test_killed_before_the_commit_nothing_is_there(crew, start_web, key, image_model):
    """Where the database notices the death: a statement that is its own transaction would be committed without it."""
    web = start_web(**PATIENT)
    with held("billing_hold"):
        waiting = Call(crew, key.secret, "a fox")
        wait_until(lambda: waits_for("billing_hold"), what="the transaction")
        kill_serving(web)
        wait_until(lambda: end_waiting_sessions() or not waits_for("billing_hold"), what="the end of its statement")
    with pytest.raises(BROKEN):
        waiting.head()
    waiting.leave()
    assert Task.objects.count() == 0


def test_killed_at_four_steps_at_once_each_picture_is_made_and_charged_once(
    crew, start_web, start_worker, sandbox, key, waiting_key, call, loud_model
):
    web = start_web()
    start_worker()
    streamed_call, streamed = call(key, "a loud fox", model=loud_model, receive_buffer=4096)
    stream = streamed_call.head()
    assert (stream.status, stream.headers["X-Task-Id"]) == (200, streamed)
    assert stream.read(100).startswith(b"{")
    bought_call, bought = call(key, "a hen [held]")
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    queued_call, queued = call(waiting_key, "a fox")
    crew.client(key.secret).get(f"/v1/tasks/{bought}?wait=1")
    committed_call, committed = call(waiting_key, "a cat")
    kill_serving(web)
    for broken in (stream.read, bought_call.head, queued_call.head, committed_call.head):
        with pytest.raises(BROKEN):
            broken()
    web.wait_for_http(f"{web.url}/healthz")
    assert [task(task_id).status for task_id in (queued, committed)] == ["queued"] * 2
    let_run()
    sandbox.release()
    are_paid_and_readable(crew, {streamed: key, bought: key, queued: waiting_key, committed: waiting_key})


@pytest.mark.once
def test_a_process_that_stops_names_the_tasks_and_they_go_on(
    crew, start_web, start_worker, sandbox, key, waiting_key, call
):
    web = start_web()
    start_worker()
    asked = [call(waiting_key, "a fox"), call(key, "a hen [held]")]
    wait_until(lambda: sandbox.audit()["jobs"], what="the paid call")
    web.terminate()
    for waiting, task_id in asked:
        heard = waiting.heard()
        assert (heard.status, heard.headers["x-should-retry"]) == (503, "false")
        assert heard.headers["x-task-id"] == task_id
    assert web.wait() == 0
    let_run()
    sandbox.release()
    assert ended(*(task_id for _, task_id in asked)) == ["succeeded"] * 2


def connections_of(process: psutil.Process) -> int:
    """How many this process has to the test's database."""
    if connection.vendor == "postgresql":
        counted = (
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'web' AND datname = current_database()"
        )
        return int(sql.fetch(counted)[0][0])
    return sum(file.path == connection.settings_dict["NAME"] for file in process.open_files())


def test_five_hundred_calls_wait_without_a_thread_or_a_connection_each(crew, start_web, image_model):
    limits = {"max_queued": WAITING, "max_running": WAITING}
    key = make_key(make_account("eager", usd="100", **limits), **limits)
    process = serving(start_web(PGAPPNAME="web"))
    calls = [Call(crew, key.secret, f"fox {number}") for number in range(WAITING)]
    wait_until(lambda: Task.objects.count() == WAITING, what="the tasks")
    assert process.num_threads() < threads.THREADS + OWN_THREADS
    assert connections_of(process) < threads.THREADS + OWN_THREADS
    (crew.folder / "assets").mkdir(exist_ok=True)
    (crew.folder / "assets" / "picture").write_bytes(b"\x89PNG")
    success = replace(steps.success(), assets=(steps.asset(storage_key="picture", size_bytes=4),))
    claimed = steps.claimed(steps.worker(), seats=WAITING)
    assert len(claimed) == WAITING
    lifecycle.end([steps.ending(one, "succeeded", success=success) for one in claimed])
    answers = [call.heard() for call in calls]
    assert {(heard.status, heard.document["data"][0]["b64_json"]) for heard in answers} == {(200, "iVBORw==")}
    assert {heard.headers["x-task-id"] for heard in answers} == {one.id for one in claimed}
