"""The stream as a client sees it, from a real front."""

import time
from datetime import timedelta
from urllib.parse import quote

import pytest
from django.db.models import F

from accounts import keys
from tasks import switches
from tasks.claims import queue
from tasks.intake import submission
from tasks.models import Task, TaskEvent
from tasks_api import stream
from tests.rows import IssuedKey, make_key, make_task
from tests.scopes import scope
from tests.tasks import steps
from tests.tasks.events.writing import write
from tests.tasks_api.stream.sse import PATH, Client
from tools.children import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def opened(client: Client) -> Client:
    """Past the opening: the snapshot, the replay or live events come next."""
    assert client.head().parser.status == 200
    assert client.next().text == "retry: 3000\n: open"
    return client


def cursors(key) -> list[int]:
    return list(TaskEvent.objects.filter(key=key.record).order_by("id").values_list("id", flat=True))


def cancel(task_id: str) -> None:
    steps.lifecycle.end([steps.cancellation_of(task_id)])


def test_it_starts_at_once_and_is_neither_cached_nor_buffered(listen, key):
    headers = opened(listen(key, accept="text/event-stream")).parser.headers
    assert headers["content-type"] == "text/event-stream"
    assert headers["cache-control"] == "no-store"
    assert headers["x-accel-buffering"] == "no"
    assert headers["x-request-id"]


def test_any_accept_header_is_taken(listen, key):
    for accept in ("application/json", "*/*", "text/html"):
        opened(listen(key, accept=accept))


def test_every_transition_is_told_with_its_cursor_last(listen, key, image_model, worker):
    client = listen(key).placed()
    task_id = steps.submitted(key)
    (task,) = steps.claimed(worker)
    steps.end(task)
    told = client.events(3)
    assert [frame.seen for frame in told] == [(task_id, "queued"), (task_id, "running"), (task_id, "succeeded")]
    assert [name for name, _ in told[0].fields] == ["event", "data", "id"]
    assert told[0].event == "task.updated"
    assert told[0].data == {"id": task_id, "status": "queued", "modality": "image", "model": "aurora-image"}
    assert [frame.id for frame in told] == cursors(key)


def test_a_return_to_the_queue_is_told(listen, key, image_model, worker):
    task = steps.start(key, worker)
    client = opened(listen(key))
    assert client.seen(1) == [(task.id, "running")]
    queue.requeue([queue.Return(task_id=task.id, attempt=task.attempt, open_routes_id=task.open_routes_id)])
    assert client.seen(1) == [(task.id, "queued")]


def test_the_model_is_told_as_it_was_sent(listen, key, image_model):
    image_model.names.create(modality="image", name="aurora", is_primary=False)
    client = listen(key).placed()
    steps.submitted(key, {**steps.IMAGE, "model": "aurora"})
    assert client.events(1)[0].data["model"] == "aurora"


def test_the_snapshot_shows_live_tasks_with_the_cursor_of_that_moment(listen, key, image_model, worker):
    running, queued, ended = steps.start(key, worker), steps.submitted(key), steps.submitted(key)
    cancel(ended)
    shown = opened(listen(key)).events(2)
    assert [frame.seen for frame in shown] == [(running.id, "running"), (queued, "queued")]
    assert [frame.id for frame in shown] == [cursors(key)[-1]] * 2


def test_an_empty_snapshot_gives_its_cursor_without_an_event(listen, key, image_model):
    cancel(steps.submitted(key))
    assert opened(listen(key)).told().text == f"id: {cursors(key)[-1]}"


def test_the_snapshots_cursor_leads_on_from_it_without_another_snapshot(listen, key, image_model):
    task_id = steps.submitted(key)
    cursor = opened(listen(key)).events(1)[0].id
    client = opened(listen(key, cursor=cursor))
    cancel(task_id)
    for reader in (client, opened(listen(key, cursor=cursor))):
        assert reader.seen(1) == [(task_id, "canceled")]


def test_other_keys_and_synchronous_tasks_are_not_told(listen, key, other_key, image_model):
    Task.objects.filter(id=steps.submitted(key)).update(origin="sync")
    hidden = steps.submitted(other_key)
    client = listen(key).placed()
    cancel(hidden)
    cancel(Task.objects.get(origin="sync").id)
    task_id = steps.submitted(key)
    assert client.seen(1) == [(task_id, "queued")]
    assert opened(listen(key, cursor=0)).seen(1) == [(task_id, "queued")]


def test_videos_are_told_as_all_tasks_are(listen, key, image_model):
    client = listen(key).placed()
    draft = steps.another(steps.drafted(key), origin="videos")
    submission.submit_one(draft)
    assert client.seen(1) == [(draft.task_id, "queued")]
    cursor = opened(listen(key)).events(1)[0].id  # of the snapshot
    cancel(draft.task_id)
    for reader in (client, opened(listen(key, cursor=cursor))):
        assert reader.seen(1) == [(draft.task_id, "canceled")]


def test_a_heartbeat_comes_at_its_interval_also_between_events(listen, key):
    began = time.monotonic()
    client, task, seen = listen(key).placed(), make_task(key), []
    while len(seen) < 3:
        write(task)
        if not (frame := client.next()).event:
            seen.append(frame.text)
    assert seen == [": heartbeat"] * 3
    assert time.monotonic() - began >= 3 * 0.1  # in tests.front.settings


def test_what_was_missed_is_replayed_and_then_live_events_follow(listen, key, image_model):
    tasks = [steps.submitted(key) for _ in range(3)]
    after = cursors(key)[0]
    clients = [opened(listen(key, cursor=after)), opened(listen(key, query=f"?after={after}"))]
    for client in clients:
        assert client.seen(2) == [(tasks[1], "queued"), (tasks[2], "queued")]
    cancel(tasks[0])
    for client in clients:
        assert client.seen(1) == [(tasks[0], "canceled")]


def test_the_header_wins_over_the_query(listen, key, image_model):
    tasks = [steps.submitted(key) for _ in range(2)]
    client = opened(listen(key, cursor=cursors(key)[0], query=f"?after={cursors(key)[1]}"))
    assert client.seen(1) == [(tasks[1], "queued")]


def test_a_cursor_is_a_number_and_else_unknown():
    for given in ("soon", "-1", "1.5", "²", "9" * 40, "1 2"):
        assert stream.asked_cursor(scope("GET", PATH, f"after={quote(given)}")) == "unknown", given
        assert stream.asked_cursor(scope("GET", PATH, "after=7", last_event_id=given)) == "unknown", given


def test_an_unknown_cursor_resets_the_stream(listen, key, image_model):
    task_id = steps.submitted(key)
    for options in ({"cursor": "soon"}, {"query": f"?after={'9' * 18}"}):
        client = opened(listen(key, **options))
        reset, snapshot = client.events(2)
        assert reset.text == f"event: stream.reset\ndata: {{}}\nid: {cursors(key)[-1]}"
        assert (snapshot.seen, snapshot.id) == ((task_id, "queued"), reset.id)
    cancel(task_id)
    assert client.seen(1) == [(task_id, "canceled")]


def test_what_was_missed_more_than_a_day_ago_resets_the_stream(listen, key, image_model):
    _, later = steps.submitted_many(key, 2)
    TaskEvent.objects.filter(key=key.record).update(at=F("at") - timedelta(hours=25))
    assert opened(listen(key, cursor=cursors(key)[0])).events(1)[0].event == "stream.reset"
    client = opened(listen(key, cursor=cursors(key)[1]))
    cancel(later)
    assert client.seen(1) == [(later, "canceled")]


def test_more_events_than_memory_keeps_are_all_told(listen, key, image_model):
    key.record.__class__.objects.update(max_queued=10_000)
    key.account.__class__.objects.update(max_queued=10_000, balance_micros=10**12)
    first, second = listen(key).placed(), opened(listen(key, cursor=0))
    tasks = steps.submitted_many(key, 1_500)
    expected = [(task_id, "queued") for task_id in tasks]
    for client in (first, second, opened(listen(key, cursor=0))):
        assert client.seen(1_500) == expected


def test_a_sixth_stream_of_a_key_is_refused(listen, key, other_key):
    clients = [opened(listen(key)) for _ in range(5)]
    sixth = listen(key)
    assert (sixth.error()["type"], sixth.parser.status) == ("TASK_STREAM_LIMIT_EXCEEDED", 429)
    assert int(sixth.parser.headers["retry-after"]) > 0
    opened(listen(other_key))
    clients[0].socket.close()
    wait_until(lambda: listen(key).head().parser.status == 200)


def test_other_methods_are_refused(listen, key):
    for method in ("POST", "HEAD", "PUT", "DELETE"):
        client = listen(key, method=method).head()
        assert (client.parser.status, client.parser.headers["allow"]) == (405, "GET"), method


def test_an_unknown_key_is_refused(listen, key):
    client = listen(IssuedKey(record=key.record, secret="dr-task-unknown"))
    assert (client.error()["type"], client.parser.status) == ("authentication_error", 401)
    assert client.parser.headers["www-authenticate"] == "Bearer"


def test_a_key_that_is_not_for_tasks_is_refused(listen, account):
    client = listen(make_key(account, name="general", binding="general"))
    assert (client.error()["type"], client.parser.status) == ("TASK_SCOPE_REQUIRED", 403)


def test_switching_the_api_off_ends_streams_and_refuses_new_ones(listen, key):
    client = opened(listen(key))
    switches.disable_api()
    client.wait_for_end()
    refused = listen(key)
    assert (refused.error()["type"], refused.parser.status) == ("TASK_API_DISABLED", 503)
    assert "retry-after" in refused.parser.headers


def test_a_pause_of_submissions_leaves_streams_alone(listen, key, other_key):
    client, other = listen(key).placed(), listen(other_key).placed()
    switches.pause()
    keys.disable(other_key.record)
    other.wait_for_end()  # now who is still let in has been asked since the pause
    write(task := make_task(key))
    assert client.seen(1) == [(task.id, "running")]
    opened(listen(key))


def test_the_streams_of_a_disabled_key_end_and_others_go_on(listen, key, other_key):
    client, other = listen(key).placed(), listen(other_key).placed()
    keys.disable(key.record)
    client.wait_for_end()
    write(task := make_task(other_key))
    assert other.seen(1) == [(task.id, "running")]
    assert listen(key).error()["type"] == "authentication_error"


def test_a_rotation_ends_streams_of_the_old_secret_after_its_grace(listen, key, image_model):
    client = opened(listen(key))
    renewed = IssuedKey(record=key.record, secret=keys.rotate(key.record, grace_seconds=0))
    client.wait_for_end()
    task_id = steps.submitted(renewed)
    assert opened(listen(renewed)).seen(1) == [(task_id, "queued")]
