"""The statements of the hot paths keep to their indexes, with as many ended tasks as a busy service has."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial

import pytest
from django.db import connection, transaction
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from accounts.authentication import admit
from accounts.models import KeySecret
from catalog import snapshot
from catalog.models import Channel, Plan
from common import ids, sql
from console.gallery import finding
from console.gallery.gallery_query import GalleryQuery
from desk.channel_page import channel_facts
from desk.now import now_facts
from desk.task_page import sheet
from desk.task_page.actions import RetryTask
from tasks import due_calls, leases, polls, route_sets
from tasks.assets import referred, stored_inputs
from tasks.claims import queue
from tasks.figures.folding import Folding
from tasks.models import RouteSet, Task, TaskPayload
from tasks.shown import eta, listing, representation
from tasks.unknown import resubmission
from tasks_api import metrics
from tests.callbacks.steps import work
from tests.rows import IMAGE_PARAMS, IssuedKey, make_account, make_channel, make_key, make_model, make_route
from tests.tasks import steps
from tests.tasks.request.param_requests import data_url

pytestmark = pytest.mark.django_db

LARGE = ("tasks_task", "tasks_call", "tasks_asset", "callbacks_delivery")
ENDED, QUEUED, RUNNING, KEYS = 20_000, 500, 200, 50
COLUMNS = (
    "id text, key bigint, secret bigint, account bigint, model bigint, status text, routes bigint, k text, "
    "actual bigint, price json, worker text, channel bigint"
)
INSERT_TASKS = """
INSERT INTO tasks_task (id, key_id, secret_id, account_id, origin, model_name, media_model_id, modality, status,
    attempt, requeues, route_set_id, open_routes_id, idempotency_key, body_digest, estimated_micros, actual_micros,
    price, deadline_at, created_at, finished_at, worker_id, channel_id)
SELECT r.id, r.key, r.secret, r.account, 'async', 'aurora-image', r.model, 'image', r.status,
    0, 0, r.routes, r.routes, r.k, '', 0, r.actual,
    r.price, {later}, {now}, CASE WHEN r.actual IS NOT NULL THEN {now} END, r.worker, r.channel
FROM {rows} WHERE true
"""
INSERT_CALLS = """
INSERT INTO tasks_call (task_id, attempt, position, worker_id, route_id, target, request_digest, state, faults,
    copy_faults, created_at, next_poll_at)
SELECT id, attempt, 0, %s, 1, price, '', CASE status WHEN 'running' THEN 'accepted' ELSE 'done' END, 0, 0, {now}, {now}
FROM tasks_task WHERE status <> 'queued'
"""
INSERT_EVENTS = """
INSERT INTO tasks_taskevent (task_id, key_id, status, attempt, at)
SELECT id, key_id, status, 1, {now} FROM tasks_task WHERE status = 'succeeded' AND (id < %s) = %s
"""
INSERT_DELIVERIES = """
INSERT INTO callbacks_delivery (id, task_id, account_id, url, host, status, attempts)
SELECT id || '.1', id, account_id, 'https://h.example.com/', 'h.example.com:443', 'delivered', 1
FROM tasks_task WHERE status = 'succeeded'
"""
INSERT_ASSETS = """
INSERT INTO tasks_asset (task_id, position, kind, storage_key, content_type, size_bytes, sha256, created_at)
SELECT id, 0, 'image', id, 'image/png', 1, '', {now} FROM tasks_task WHERE status = 'succeeded'
"""


@dataclass(frozen=True)
class Busy:
    """Fifty keys with 20,000 ended, 500 queued and 200 running tasks, each but the queued ones with a call, and
    each ended one with a delivery and a file."""

    keys: list[IssuedKey]
    worker: str


@pytest.fixture(scope="module")
def busy(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Busy]:
    """Made once, as it takes its time; every test works on it in a transaction within this one."""
    whole = transaction.atomic()
    whole._from_testcase = True  # to be undone: none of our own transactions
    with django_db_blocker.unblock(), whole:
        yield make_busy()
        transaction.set_rollback(True)


@pytest.fixture
def keys(busy: Busy) -> list[IssuedKey]:
    return busy.keys


@pytest.fixture
def worker(busy: Busy) -> str:
    """Who runs all that runs."""
    return busy.worker


def make_busy() -> Busy:
    if sql.is_postgresql():
        sql.run("TRUNCATE tasks_task CASCADE")  # what rolled-back tests left behind makes its indexes look large
    snapshot.forget()
    route_sets.forget()
    plan = Plan.objects.create(name="standard")
    channel = make_channel("studio", "openai_images", "https://images.provider.example/v1", max_running=300)
    model = make_model("aurora-image", "image", plan=plan, prices={"1K": "0.04"}, params=IMAGE_PARAMS)
    make_route(plan, model, channel, upstream_model="gpt-image-2")
    keys = [make_key(make_account(f"account {n}", max_running=90), max_running=90) for n in range(KEYS)]
    worker = steps.worker()
    routes = RouteSet.objects.get(id=steps.drafted(keys[0]).route_set_id)
    secrets = dict(KeySecret.objects.values_list("key_id", "id"))
    common = {"model": model.pk, "routes": routes.pk, "price": sql.document(asdict(steps.UPSTREAM))}
    rows = []
    for number in range(ENDED + QUEUED + RUNNING):
        place = number * 7_919 % (ENDED + QUEUED + RUNNING)  # the living are spread among the ended
        status = "queued" if place < QUEUED else "running" if place < QUEUED + RUNNING else "succeeded"
        key = keys[number % KEYS]
        row = {
            "id": ids.PREFIX + ids.encode(number << 40),
            "key": key.id,
            "secret": secrets[key.id],
            "account": key.account.pk,
            "status": status,
            "k": f"order-{number}" if number % 2 else None,
            "actual": 0 if status == "succeeded" else None,
            "worker": worker if status == "running" else None,
            "channel": channel.pk if status != "queued" else None,
        }
        rows.append(common | row)
    sql.run(INSERT_TASKS.format(now=sql.now(), later=sql.later("3600"), rows=sql.rows(COLUMNS)), [sql.pack(rows)])
    sql.run(INSERT_CALLS.format(now=sql.now()), [worker])
    sql.run(INSERT_DELIVERIES)
    sql.run(INSERT_ASSETS.format(now=sql.now()))  # whoever reads an empty table reads it from end to end
    connection.check_constraints()  # once, and not again at the end of every test
    sql.run("ANALYZE")
    return Busy(keys=keys, worker=worker)


def is_full_scan(line: str) -> bool:
    """Whether a step of a plan reads a large table from end to end."""
    if sql.is_postgresql():
        return any(f"Seq Scan on {table} " in line for table in LARGE)
    words = line.split()
    return words[:1] == ["SCAN"] and words[1] in LARGE and "INDEX" not in words


def plan_of(statements: list[str], part: str, *indexes: str) -> str:
    """The plan of the first statement with this part; it uses these indexes and scans nothing large."""
    plan = steps.explained(next(found for found in statements if part in found))
    assert not any(map(is_full_scan, plan.splitlines())), plan
    assert all(index in plan for index in indexes), plan
    return plan


def test_a_claim_reads_groups_counts_and_tasks_by_index(keys):
    with steps.captured() as statements:
        assert queue.seconds_to_next() == 0
        assert len(steps.claimed(steps.worker(), seats=50)) == 50
    plan_of(statements, "IS NOT NULL THEN 0.0", "task_claim")
    assert "task_list" not in plan_of(statements, "g.open_routes_id", "task_claim")  # through all that a key has queued
    plan_of(statements, "'channel'", "task_channel")
    plan_of(statements, "ORDER BY id LIMIT", "task_claim")
    plan_of(statements, "UPDATE tasks_task")


def test_a_submission_reads_counts_and_idempotency_keys_by_index(keys):
    with steps.captured() as statements:
        admit(f"Bearer {keys[1].secret}", idempotency_key="order-1")
        found = steps.read_standing([steps.drafted(key, idempotency_key="order-1") for key in keys[:2]])
    plan_of(statements, "accounts_keysecret", "task_idempotency")
    plan_of(statements, "'replay'", "task_idempotency")
    plan_of(statements, "count(*) FILTER", "task_limits")
    assert sum(queued.total() for queued in found.queued.values()) == 2 * QUEUED / KEYS
    assert list(found.replays) == [(keys[1].id, "order-1")]


def test_owed_callbacks_are_counted_by_index(keys):
    with steps.captured() as statements:
        found = steps.read_standing([steps.drafted(keys[0], callback_url="https://hooks.example.com/")])
    plan_of(statements, "'callbacks'", "delivery_unattempted", "task_owing")
    assert found.callbacks == {keys[0].account.pk: 0}


def test_stored_inputs_are_summed_and_found_by_index(keys):
    params = {"prompt": "x", "images": [{"image_url": data_url()}]}
    Task.objects.filter(id__in=Task.objects.filter(status="queued")[:200].values("id")).update(input_bytes=1_000)
    ended = list(Task.objects.filter(status="succeeded").values_list("id", flat=True)[:5])
    Task.objects.filter(id__in=ended).update(input_bytes=7)
    TaskPayload.objects.bulk_create(TaskPayload(task_id=task_id) for task_id in ended)
    sql.run("ANALYZE tasks_task")
    draft = steps.drafted(keys[0], params=params)
    with steps.captured() as statements:
        steps.read_standing([draft])
        assert sum(stored_inputs.batches()) == 5
    draft.discard_inputs()
    plan_of(statements, "'inputs'", "task_inputs")
    plan_of(statements, "NOT EXISTS", "task_inputs_due")
    plan_of(statements, "tasks_taskpayload")


def test_results_that_live_tasks_refer_to_are_looked_for_by_index(keys):
    with steps.captured() as statements:
        referred.held([keys[0].account.pk])
    plan_of(statements, "asset:task", "task_limits")


def test_polls_and_dead_workers_are_looked_for_by_index(worker, other_worker, settings):
    with steps.captured() as busy:
        assert len(steps.due(worker)) == 200
    with steps.captured() as idle:
        assert due_calls.followed(other_worker, since_seconds=1.0) == []
    for statements in (busy, idle):
        plan_of(statements, "AS stamp", "call_due")
    plan_of(busy, "AS bought_in")
    with steps.captured() as statements:
        polls.hasten_overdue()
    plan_of(statements, "UPDATE tasks_call")
    steps.silence(worker, seconds=7_200)
    settings.WORKER_LEASE = 3_600
    with steps.captured() as statements:
        assert leases.dead_workers("") == [worker]
    plan_of(statements, "heartbeat_at", "task_worker")


def test_calls_of_a_worker_that_has_just_adopted_them_are_read_by_their_ids(busy, other_worker):
    # No statistics know of them yet, so the index of what this worker follows looks empty; it holds all of them.
    polls.adopt(other_worker, [busy.worker])
    followed = due_calls.followed(other_worker)
    with steps.captured() as statements:
        assert len(due_calls.read(other_worker, [call.id for call in followed[:50]])) == 50
    assert "call_due" not in plan_of(statements, "AS bought_in")


def test_a_task_and_a_page_are_read_by_index(keys):
    task = Task.objects.filter(status="queued").latest("id")
    for read in (
        partial(representation.find_one, task.key_id, task.id),
        partial(listing.page, keys[1].id, {"limit": "100"}),
    ):
        with steps.captured() as statements:
            assert read()
        plan_of(statements, "tasks_taskpayload", "task_claim")


@pytest.mark.parametrize(
    ("query", "index"),
    [
        ({"status": "succeeded"}, "task_list"),
        ({"modality": "image", "model": "aurora-image"}, "task_list"),
        ({"status": "queued"}, "task_"),
    ],
)
def test_a_page_that_filters_reads_no_row_of_a_task_that_it_does_not_show(keys, query, index):
    with steps.captured() as statements:
        listing.page(keys[1].id, query)
    plan_of(statements, "tasks_taskpayload", index)


def test_a_full_page_does_not_look_for_the_end_of_what_it_may_look_at(keys):
    with steps.captured() as statements:
        assert len(listing.page(keys[1].id, {"status": "succeeded"}).tasks) == listing.DEFAULT_LIMIT
    assert not [found for found in statements if "OFFSET" in found]


FOR_EVER, LONG = 0, 100 * 365 * 86_400


@pytest.mark.parametrize("shelf", [GalleryQuery(), GalleryQuery(modality="image"), GalleryQuery(model="mural-image")])
@pytest.mark.parametrize("retention", [FOR_EVER, LONG])
def test_a_page_of_the_gallery_is_read_by_index(keys, settings, shelf, retention):
    settings.ASSET_RETENTION = retention
    with steps.captured() as statements:
        found = finding.page(keys[1].id, shelf)
    assert len(found.works) == (0 if shelf.model else finding.MOST_TASKS)
    plan_of(statements, "tasks_taskpayload", "task_list")
    for statement in statements:
        plan_of([statement], statement)


def test_the_usual_time_of_a_model_reads_so_many_of_its_tasks_and_no_more():
    with work() as found:
        eta.by_model.__wrapped__(0)
    assert found.rows < 5 * eta.SAMPLE


def test_the_desks_home_reads_no_large_table_from_end_to_end(busy):
    """With the events of all tasks, of which some are not folded yet."""
    border = Task.objects.filter(status="succeeded").order_by("-id").values_list("id", flat=True)[20]
    sql.run(INSERT_EVENTS.format(now=sql.now()), [border, True])
    folding = Folding()
    while folding.step():
        pass
    sql.run(INSERT_EVENTS.format(now=sql.now()), [border, False])
    sql.run("ANALYZE")
    with steps.captured() as statements:
        found = now_facts.read(timezone.now())
    assert (found.live.queued, found.live.at_work, found.hour.tasks) == (QUEUED, RUNNING, ENDED)
    for statement in statements:
        plan_of([statement], statement)


def test_the_retries_of_a_task_are_found_by_index(busy):
    task = Task.objects.filter(status="succeeded").latest("id")
    for find in (
        partial(sheet.gather, task),
        partial(RetryTask().form, task),
        partial(resubmission.live_retry, task.pk),
    ):
        with steps.captured() as statements:
            find()
        plan_of(statements, '"retry_of_id" =', "task_retry")


def test_the_page_of_a_channel_reads_no_large_table_from_end_to_end(busy):
    channel = Channel.objects.get()
    with steps.captured() as statements:
        found = channel_facts.read(channel, timezone.now())
    assert found.running == RUNNING
    for statement in statements:
        plan_of([statement], statement)


def test_pending_deliveries_are_counted_by_index(busy):
    with steps.captured() as statements:
        assert sql.value(metrics.PENDING) == 0
    plan_of(statements, "claimed_at", "delivery_claimed")


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has neither")
def test_large_tables_have_no_index_for_like_and_are_tidied_early():
    patterns = "SELECT tablename FROM pg_indexes WHERE indexdef LIKE %s"
    early = "SELECT relname FROM pg_class WHERE reloptions::text LIKE %s"
    grow = {"tasks_task", "tasks_taskpayload", "billing_hold", "billing_relayedcall", "callbacks_delivery"}
    assert not grow & set(sql.column(patterns, ["%pattern_ops%"]))
    assert grow <= set(sql.column(early, ["%autovacuum_vacuum_scale_factor=0.02%"]))
