"""Sets of routes are kept once and never change."""

from functools import partial
from importlib import import_module

import pytest
from django.apps import apps

from tasks import route_sets
from tasks.models import RouteSet, Task
from tests.rows import make_task
from tests.tasks import steps


@pytest.fixture
def three(db) -> int:
    return route_sets.identify(frozenset([1, 2, 3]))


def test_the_same_routes_are_the_same_set_in_any_order_and_process(three):
    assert route_sets.identify(frozenset([3, 1, 2, 3])) == three
    route_sets.forget()
    assert route_sets.identify(frozenset(iter([2, 1, 3]))) == three
    assert route_sets.routes_of(three) == (1, 2, 3)
    assert RouteSet.objects.count() == 1


def test_other_routes_are_another_set(three):
    assert (
        len({three, *(route_sets.identify(frozenset(routes)) for routes in ([1, 2], [1, 2, 3, 4], [12, 3], []))}) == 5
    )


def test_a_known_set_costs_no_statement(three, django_assert_num_queries):
    route_sets.routes_of(three)
    with django_assert_num_queries(0):
        route_sets.identify(frozenset([1, 2, 3]))
        route_sets.routes_of(three)


def test_one_set_met_by_many_threads_at_once_is_one(transactional_db):
    jobs = [partial(RouteSet.objects.get_or_create, digest="d" * 64, defaults={"routes": []}) for _ in range(8)]
    assert len({made.pk for made, _ in steps.at_once(jobs)}) == 1


def old_set(digest: str, *routes: int, weight: int = 1) -> int:
    return RouteSet.objects.create(digest=digest, routes=[{"route": route, "weight": weight} for route in routes]).pk


def test_sets_that_differed_by_a_weight_become_one_and_queued_tasks_get_their_routes_back(key):
    migration = import_module("tasks.migrations.0007_route_set_ids")
    tasks = {status: make_task(key, status).pk for status in ("succeeded", "running", "queued")}
    full, heavy, less = old_set("a", 7, 5), old_set("b", 5, 7, weight=9), old_set("c", 5)
    Task.objects.update(route_set=heavy, open_routes=less)
    Task.objects.filter(id=tasks["succeeded"]).update(open_routes=heavy)
    for _ in range(2):
        migration.merge(apps, None)
        assert dict(RouteSet.objects.filter(id__gte=full).values_list("id", "routes")) == {full: [5, 7], less: [5]}
        now = dict(Task.objects.values_list("status", "open_routes"))
        assert now == {"succeeded": full, "running": less, "queued": full}
        assert set(Task.objects.values_list("route_set", flat=True)) == {full}
        assert route_sets.identify(frozenset([7, 5])) == full
        migration.split(apps, None)  # and on again
