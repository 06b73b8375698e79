"""Claims: limits and fairness, counted from rows."""

from collections import Counter

import pytest
from django.db import connection

from accounts.models import Account, ApiKey
from adapters.base import ErrorKind
from catalog import pausing, snapshot
from catalog.models import Channel, Credential, Route
from common.errors import UnsupportedModel
from tasks import cancellation
from tasks.claims import queue, queue_state
from tasks.claims.queue import Return
from tasks.models import ClaimTurn, RouteSet, ServiceState, Task, TaskEvent
from tests.refusing import disable, refuse, wake
from tests.rows import add_credential, make_account, make_channel, make_key, make_model, make_route
from tests.tasks import steps


def statuses() -> Counter[str]:
    return Counter(Task.objects.values_list("status", flat=True))


def stranded(claim: queue.Claim) -> list[tuple[int, int, str]]:
    return [(found.key_id, found.open_routes_id, found.failure.type) for found in claim.stranded]


@pytest.fixture
def roomy(db):
    """A key with high limits and plenty of money."""
    account = make_account("roomy", usd="1000", max_queued=2_000, max_running=2_000)
    return make_key(account, max_queued=2_000, max_running=2_000)


def test_a_claim_starts_the_oldest_tasks(key, image_model, worker):
    ids = steps.submitted_many(key, 5)
    claimed = steps.claimed(worker, seats=3)
    assert sorted(task.id for task in claimed) == sorted(ids)[:3]
    assert statuses() == {"running": 3, "queued": 2}


def test_a_started_task_knows_its_worker_route_and_deadline(key, image_model, image_channel, worker):
    task = steps.start(key, worker)
    row = Task.objects.get(id=task.id)
    assert (row.status, row.attempt, row.worker_id, row.channel_id) == ("running", 1, worker, image_channel.pk)
    assert row.route_id == task.route_id == Route.objects.get().pk
    assert (row.deadline_at - row.started_at).total_seconds() == pytest.approx(900, abs=0.1)
    assert (task.deadline_at, task.deadline_seconds, task.modality) == (row.deadline_at, 900, "image")
    assert (task.key_id, task.requeues, task.open_routes_id) == (key.id, 0, row.route_set_id)


def test_a_video_has_its_own_execution_deadline(key, video_model, worker):
    task = steps.start(key, worker, steps.VIDEO)
    row = Task.objects.get(id=task.id)
    assert (row.deadline_at - row.started_at).total_seconds() == pytest.approx(7_200, abs=0.1)


def test_a_start_is_one_event(key, image_model, worker):
    task = steps.start(key, worker)
    assert list(TaskEvent.objects.order_by("id").values_list("status", "attempt")) == [("queued", 0), ("running", 1)]
    assert task.attempt == 1


def test_nothing_is_claimed_twice(key, image_model, worker, other_worker):
    steps.submitted(key)
    assert len(steps.claimed(worker)) == 1
    assert steps.claimed(other_worker) == ()


def test_no_seats_claim_nothing(key, image_model, worker):
    steps.submitted(key)
    assert steps.claimed(worker, seats=0) == ()


def test_an_empty_queue_gives_nothing(worker):
    assert steps.claimed(worker) == ()
    assert queue.seconds_to_next() != 0


def test_waiting_is_noticed(key, image_model, worker):
    steps.submitted(key)
    assert queue.seconds_to_next() == 0
    steps.claimed(worker)
    assert queue.seconds_to_next() != 0


def test_the_key_limit_holds_and_frees_with_an_end(account, image_model, worker):
    key = make_key(account, max_running=2)
    steps.submitted_many(key, 5)
    first, _ = steps.claimed(worker)
    assert steps.claimed(worker) == ()
    steps.end(first)
    assert len(steps.claimed(worker)) == 1


def test_the_account_limit_counts_all_its_keys(image_model, worker):
    account = make_account("small", max_running=3)
    for name in ("one", "two"):
        steps.submitted_many(make_key(account, name), 3)
    assert len(steps.claimed(worker)) == 3
    assert steps.claimed(worker) == ()
    assert {count for _, count in Counter(Task.objects.filter(status="running").values_list("key")).items()} == {1, 2}


def test_the_channel_limit_counts_all_accounts(key, other_key, image_model, image_channel, worker):
    Channel.objects.filter(pk=image_channel.pk).update(max_running=3)
    for owner in (key, other_key):
        steps.submitted_many(owner, 3)
    assert len(steps.claimed(worker)) == 3
    assert steps.claimed(worker) == ()


def test_the_total_limit_counts_everything(key, other_key, image_model, video_model, worker):
    ServiceState.objects.update(max_running=2)
    steps.submitted(key, steps.VIDEO)
    for owner in (key, other_key):
        steps.submitted_many(owner, 2)
    assert len(steps.claimed(worker)) == 2
    assert steps.claimed(worker) == ()


@pytest.mark.parametrize("limit", ["key", "account", "channel", "total"])
def test_a_changed_limit_holds_from_the_next_claim_on(key, image_model, worker, limit):
    narrow = {
        "key": lambda n: ApiKey.objects.update(max_running=n),
        "account": lambda n: Account.objects.update(max_running=n),
        "channel": lambda n: Channel.objects.update(max_running=n),
        "total": lambda n: ServiceState.objects.update(max_running=n),
    }[limit]
    steps.submitted_many(key, 4)
    narrow(0)
    assert steps.claimed(worker) == ()
    narrow(3)
    assert len(steps.claimed(worker)) == 3


def test_a_limit_below_what_runs_already_starts_nothing(key, image_model, worker):
    steps.submitted_many(key, 4)
    assert len(steps.claimed(worker, seats=3)) == 3
    ApiKey.objects.update(max_running=1)
    assert steps.claimed(worker) == ()
    assert statuses() == {"running": 3, "queued": 1}


def test_a_key_with_a_thousand_queued_does_not_starve_one_with_ten(roomy, key, image_model, worker):
    steps.submitted_many(roomy, 1_000)
    steps.submitted_many(key, 10)
    started = [task.key_id for _ in range(10) for task in steps.claimed(worker, seats=2)]
    assert Counter(started) == {roomy.id: 10, key.id: 10}


def test_starts_interleave_within_one_claim(roomy, key, image_model, worker):
    steps.submitted_many(roomy, 1_000)
    steps.submitted_many(key, 10)
    assert Counter(task.key_id for task in steps.claimed(worker, seats=20)) == {roomy.id: 10, key.id: 10}


def test_the_turn_rotates_over_the_keys(account, image_model, worker):
    keys = [make_key(account, name) for name in "abc"]
    for key in keys:
        steps.submitted_many(key, 3)
    started = [task.key_id for _ in range(9) for task in steps.claimed(worker, seats=1)]
    ids = [key.id for key in keys]
    assert started == ids * 3
    assert ClaimTurn.objects.get().last_key == ids[-1]


def test_a_few_seats_go_to_the_keys_whose_turn_it_is_however_many_wait(account, image_model, worker, monkeypatch):
    monkeypatch.setattr(queue, "SPARE_GROUPS", 1)
    Account.objects.filter(pk=account.pk).update(max_running=100)
    keys = [make_key(account, f"key {n}", max_running=1 if n == 3 else 20) for n in range(7)]
    for key in keys:
        steps.submitted_many(key, 3)
    order = {key.id: n for n, key in enumerate(keys)}
    turns = [sorted(order[task.key_id] for task in steps.claimed(worker, seats=2)) for _ in range(7)]
    assert turns == [[0, 1], [2, 3], [4, 5], [0, 6], [1, 2], [4, 5], [0, 6]]


def test_keys_behind_a_busy_route_are_not_all_looked_at_again_and_again(account, image_model, worker, monkeypatch):
    monkeypatch.setattr(queue, "SPARE_GROUPS", 1)
    monkeypatch.setattr(queue, "_wide_looks", queue.WideLooks())
    monkeypatch.setattr(queue, "WIDE_PART", 1e-9)
    Channel.objects.update(max_running=0)
    for n in range(5):
        steps.submitted(make_key(account, f"key {n}"))
    catalog = snapshot.latest()
    assert [len(queue.look_at(catalog, 1).groups) for _ in range(3)] == [5, 2, 2]
    monkeypatch.setattr(queue, "_wide_looks", queue.WideLooks())
    Channel.objects.update(max_running=2)
    assert len(steps.claimed(worker, seats=1)) == 1


def test_a_wide_look_that_helped_may_follow_at_once(account, other_account, image_model, worker, monkeypatch):
    monkeypatch.setattr(queue, "SPARE_GROUPS", 1)
    monkeypatch.setattr(queue, "_wide_looks", queue.WideLooks())
    monkeypatch.setattr(queue, "WIDE_PART", 1e-9)
    Account.objects.filter(pk=account.pk).update(max_running=0)
    for n in range(5):
        steps.submitted(make_key(account, f"key {n}"))
    free = make_key(other_account, "free")
    steps.submitted_many(free, 2)
    assert [task.key_id for _ in range(2) for task in steps.claimed(worker, seats=1)] == [free.id] * 2


def test_a_claim_looks_no_further_than_it_has_seats(account, image_model, worker):
    for n in range(50):
        steps.submitted(make_key(account, f"key {n}"))
    catalog = snapshot.latest()
    few, every = queue_state.waiting(catalog, most=10), queue_state.waiting(catalog)
    assert (len(few.waiting), few.is_all, len(every.waiting), every.is_all) == (10, False, 50, True)
    assert queue_state.waiting(catalog, most=50) == every
    last = every.waiting[46].key_id
    ClaimTurn.objects.update(last_key=last)
    turned = queue_state.waiting(catalog, most=6).waiting
    assert turned == (*every.waiting[47:], *every.waiting[:3])


def test_groups_of_a_key_are_looked_at_together_or_not_at_all(plan, key, other_key, image_model, image_channel, worker):
    for name in ("one", "two", "three"):
        model = make_model(name, "image", plan=plan, prices={"*": "0.01"}, pricing_mode="per_request")
        make_route(plan, model, image_channel, upstream_model="gpt-image-2")
        steps.submitted(other_key, model=name)
    steps.submitted(key)
    catalog = snapshot.latest()
    for most, seen in ((1, {key.id}), (2, {key.id}), (3, {key.id}), (4, {key.id, other_key.id})):
        found = queue_state.waiting(catalog, most=most)
        assert ({group.key_id for group in found.waiting}, found.is_all) == (seen, most == 4)


def test_a_full_channel_does_not_block_other_tasks_of_the_key(key, image_model, video_model, image_channel, worker):
    Channel.objects.filter(pk=image_channel.pk).update(max_running=1)
    steps.submitted_many(key, 3)
    films = [steps.submitted(key, steps.VIDEO) for _ in range(2)]
    started = steps.claimed(worker) + steps.claimed(worker)
    assert Counter(task.modality for task in started) == {"image": 1, "video": 2}
    assert {task.id for task in started if task.modality == "video"} == set(films)


def test_a_full_channel_gives_way_to_the_next_route(plan, key, image_model, image_channel, worker):
    spare = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, spare, upstream_model="gpt-image-2", priority=20)
    Channel.objects.filter(pk=image_channel.pk).update(max_running=1)
    steps.submitted_many(key, 3)
    steps.claimed(worker)
    assert Counter(Task.objects.values_list("channel_id", flat=True)) == {image_channel.pk: 1, spare.pk: 2}


def test_a_route_that_has_moved_to_another_channel_counts_there(key, image_model, image_channel, worker):
    steps.submitted_many(key, 3)
    narrow = make_channel("narrow", "openai_images", "https://narrow.provider.example/v1", max_running=1)
    narrow.channel_models.create(model=image_model, upstream_model="gpt-image-2")
    route = Route.objects.get()
    route.channel = narrow
    route.save()
    (task,) = steps.claimed(worker)
    assert Task.objects.get(id=task.id).channel_id == narrow.pk
    assert steps.claimed(worker) == ()


def test_tasks_whose_routes_are_gone_are_reported_and_stay_queued(key, image_model, worker):
    task_id = steps.submitted(key)
    Route.objects.all().delete()
    claim = queue.claim(worker, seats=5)
    assert claim.tasks == ()
    assert stranded(claim) == [(key.id, Task.objects.get(id=task_id).open_routes_id, "TASK_NO_CAPABLE_ROUTE")]


def test_who_looks_first_takes_and_tells_the_same(key, image_model, video_model, worker):
    steps.submitted(key)
    film = steps.submitted(key, steps.VIDEO)
    Route.objects.filter(model=image_model).delete()
    claim = queue.claim(worker, seats=5, looks_first=True)
    assert [task.id for task in claim.tasks] == [film]
    again = queue.claim(worker, seats=5, looks_first=True)
    assert again.tasks == ()
    assert again.stranded == claim.stranded != ()


@pytest.mark.parametrize("disable", ["route", "channel", "channel model"])
def test_a_disabled_route_is_gone(key, image_model, image_channel, worker, disable):
    steps.submitted(key)
    {
        "route": Route.objects,
        "channel": Channel.objects,
        "channel model": image_channel.channel_models,
    }[disable].update(enabled=False)
    assert queue.claim(worker, seats=5).stranded


def test_routes_that_are_gone_do_not_hold_up_the_others(key, image_model, video_model, worker):
    steps.submitted(key)
    film = steps.submitted(key, steps.VIDEO)
    Route.objects.filter(model=image_model).delete()
    claim = queue.claim(worker, seats=5)
    assert [task.id for task in claim.tasks] == [film]
    assert len(claim.stranded) == 1


def test_a_disabled_key_still_gets_its_tasks_run(key, image_model, worker):
    steps.submitted(key)
    ApiKey.objects.update(disabled_at="2026-01-01T00:00:00Z")
    assert len(steps.claimed(worker)) == 1


def test_a_canceled_task_is_not_claimed(key, image_model, worker):
    cancellation.cancel(key.id, steps.submitted(key))
    assert steps.claimed(worker) == ()


def test_a_task_past_its_queue_deadline_is_not_started(key, image_model, worker):
    task_id = steps.submitted(key)
    steps.age(task_id, "deadline_at", -1)
    assert queue.seconds_to_next() != 0
    assert steps.claimed(worker) == ()
    steps.age(task_id, "deadline_at", 3_600)
    assert [task.id for task in steps.claimed(worker)] == [task_id]


def test_a_claim_of_one_key_costs_a_fixed_number_of_statements(roomy, image_model, worker):
    steps.submitted_many(roomy, 200)
    steps.claimed(worker, seats=1)
    with steps.captured() as statements:
        assert len(steps.claimed(worker, seats=100)) == 100
    assert len(statements) <= 8, "\n".join(statements)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite asks for the tasks of each key by itself")
def test_a_claim_of_many_keys_costs_no_more_statements_than_of_one(account, image_model, worker):
    spent = {}
    for count in (1, 4):
        for number in range(count):
            steps.submitted(make_key(account, f"key {number} of {count}"))
        with steps.captured() as statements:
            assert len(steps.claimed(worker)) == count
        spent[count] = len(statements)
    assert spent[4] <= spent[1]


def test_tasks_of_different_routes_are_different_groups_of_a_key(plan, key, image_channel, worker):
    for name in ("one", "two"):
        model = make_model(name, "image", plan=plan, prices={"*": "0.01"}, pricing_mode="per_request")
        make_route(plan, model, image_channel, upstream_model="gpt-image-2")
        steps.submitted(key, model=name)
    started = steps.claimed(worker) + steps.claimed(worker)
    assert len({task.open_routes_id for task in started}) == 2


@pytest.fixture
def spare(plan, image_model) -> Channel:
    """A second way to the image model, taken when the first cannot be."""
    channel = make_channel("spare", "openai_images", "https://spare.provider.example/v1")
    make_route(plan, image_model, channel, upstream_model="gpt-image-2", priority=20)
    return channel


def credential_of(channel: Channel) -> Credential:
    return channel.credentials.get()


def rest(channel: Channel) -> None:
    refuse(credential_of(channel), ErrorKind.RATE_LIMITED, retry_after=300)


def test_tasks_of_a_channel_that_rests_wait_for_its_end(key, image_model, image_channel, worker):
    task_id = steps.submitted(key)
    rest(image_channel)
    claim = queue.claim(worker, seats=5)
    assert (claim.tasks, claim.stranded) == ((), ())
    wake()
    assert [task.id for task in steps.claimed(worker)] == [task_id]


def test_a_channel_that_rests_gives_way_to_the_next_route_which_is_told(key, image_channel, spare, worker):
    steps.submitted(key)
    refuse(credential_of(image_channel), ErrorKind.OVERLOADED, retry_after=600)
    (task,) = steps.claimed(worker)
    first, second = Route.objects.order_by("priority").values_list("id", flat=True)
    assert (task.route_id, task.passed) == (second, ((first, "cooling down"),))


def test_a_disabled_channel_gives_way_to_the_next_route_which_is_told(key, image_channel, spare, worker):
    steps.submitted(key)
    disable(credential_of(image_channel))
    (task,) = steps.claimed(worker)
    first, second = Route.objects.order_by("priority").values_list("id", flat=True)
    assert (task.route_id, task.passed) == (second, ((first, "disabled"),))


def test_each_task_of_a_claim_knows_its_own_passed_routes(key, image_channel, spare, worker):
    Channel.objects.filter(pk=image_channel.pk).update(max_running=1)
    steps.submitted_many(key, 2)
    first, second = Route.objects.order_by("priority").values_list("id", flat=True)
    assert {(task.route_id, task.passed) for task in steps.claimed(worker)} == {
        (first, ()),
        (second, ((first, "busy"),)),
    }


def test_tasks_whose_channels_are_all_disabled_are_reported(key, image_model, image_channel, spare, worker):
    task_id = steps.submitted(key)
    disable(credential_of(image_channel))
    rest(spare)
    assert queue.claim(worker, seats=5).stranded == ()
    disable(credential_of(spare))
    claim = queue.claim(worker, seats=5)
    assert claim.tasks == ()
    assert stranded(claim) == [(key.id, Task.objects.get(id=task_id).open_routes_id, "TASK_UPSTREAM_ERROR")]


def test_a_route_that_is_gone_does_not_make_a_disabled_channel_usable(key, image_model, image_channel, spare, worker):
    steps.submitted(key)
    Route.objects.filter(channel=image_channel).delete()
    disable(credential_of(spare))
    assert [end for *_, end in stranded(queue.claim(worker, seats=5))] == ["TASK_UPSTREAM_ERROR"]


def test_tasks_of_a_paused_channel_wait_until_it_is_resumed_and_those_that_run_go_on(
    key, image_model, image_channel, worker
):
    running = steps.start(key, worker)
    pausing.pause(image_channel)
    task_id = steps.submitted(key)
    claim = queue.claim(worker, seats=5)
    assert (claim.tasks, claim.stranded) == ((), ())
    assert steps.end(running)
    pausing.resume(image_channel)
    assert [task.id for task in steps.claimed(worker)] == [task_id]


def test_what_is_paused_keeps_its_tasks_while_its_credentials_are_mended(key, image_model, image_channel, worker):
    task_id = steps.submitted(key)
    pausing.pause(image_channel)
    disable(credential_of(image_channel))
    assert queue.claim(worker, seats=5).stranded == ()
    Credential.objects.update(disabled_at=None)
    pausing.resume(image_channel)
    assert [task.id for task in steps.claimed(worker)] == [task_id]


def test_a_paused_channel_gives_way_to_the_next_route_which_is_told(key, image_channel, spare, worker):
    steps.submitted(key)
    pausing.pause(image_channel)
    (task,) = steps.claimed(worker)
    first, second = Route.objects.order_by("priority").values_list("id", flat=True)
    assert (task.route_id, task.passed) == (second, ((first, "paused"),))


def test_of_a_paused_model_nothing_starts_on_any_route_and_other_models_go_on(
    key, image_model, spare, video_model, worker
):
    pausing.pause(image_model)
    picture, film = steps.submitted(key), steps.submitted(key, steps.VIDEO)
    assert [task.id for task in steps.claimed(worker)] == [film]
    pausing.resume(image_model)
    assert [task.id for task in steps.claimed(worker)] == [picture]


def test_a_drained_channel_takes_no_new_task_and_runs_those_that_wait(key, image_model, image_channel, worker):
    running, task_id = steps.start(key, worker), steps.submitted(key)
    pausing.drain(image_channel)
    with pytest.raises(UnsupportedModel):
        steps.drafted(key)
    assert queue.requeue([Return(task_id=running.id, attempt=running.attempt, open_routes_id=running.open_routes_id)])
    steps.age(running.id, "not_before", 0)
    assert {task.id for task in steps.claimed(worker)} == {running.id, task_id}


def test_new_tasks_go_past_a_drained_channel(key, image_model, image_channel, spare, worker):
    pausing.drain(image_channel)
    steps.start(key, worker)
    assert Task.objects.get().channel == spare


def test_a_drained_model_takes_no_new_task_and_runs_those_that_wait(key, image_model, worker):
    task_id = steps.submitted(key)
    pausing.drain(image_model)
    with pytest.raises(UnsupportedModel):
        steps.drafted(key)
    assert [task.id for task in steps.claimed(worker)] == [task_id]


def test_a_channel_without_any_credential_is_not_disabled(key, image_model, image_channel, worker):
    steps.submitted(key)
    credential_of(image_channel).delete()
    assert len(steps.claimed(worker)) == 1


def test_a_second_credential_keeps_a_channel_in_use(key, image_model, image_channel, worker):
    steps.submitted_many(key, 2)
    first = credential_of(image_channel)
    second = add_credential(image_channel, "the-second-credential-5678")
    disable(first)
    assert len(steps.claimed(worker, seats=1)) == 1
    refuse(second, ErrorKind.RATE_LIMITED, retry_after=300)
    assert steps.claimed(worker) == ()


def test_a_task_of_a_modality_of_another_version_is_not_claimed_and_keeps_no_others(key, image_model):
    first, second = steps.submitted(key), steps.submitted(key)
    Task.objects.filter(id=first).update(modality="smell")
    assert [task.id for task in steps.claimed(steps.worker())] == [second]
    assert queue.seconds_to_next() != 0


@pytest.mark.parametrize("routes", [{"all": True}, ["1"]], ids=str)
def test_tasks_whose_open_routes_cannot_be_read_are_not_claimed_and_keep_no_others(key, image_model, caplog, routes):
    first, second = steps.submitted(key), steps.submitted(key)
    strange = RouteSet.objects.create(digest="of another version", routes=routes)
    Task.objects.filter(id=first).update(open_routes=strange)
    claimed = [[task.id for task in steps.claimed(steps.worker())] for _ in range(3)]
    assert claimed == [[second], [], []]
    assert [f"route set {strange.pk}" in record.getMessage() for record in caplog.records] == [True]
