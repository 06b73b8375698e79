"""Sets of routes are kept once and never change."""

from functools import partial

import pytest

from tasks import route_sets
from tasks.models import RouteSet
from tests.tasks import steps


def row(route: int, **changes) -> dict:
    return {"route": route, "channel": 1, "priority": 10, "weight": 1, **changes}


def ids(route_set_id: int | None) -> list[int]:
    assert route_set_id is not None
    return [found["route"] for found in route_sets.routes_of(route_set_id)]


@pytest.fixture
def three(db) -> int:
    return route_sets.intern([row(1), row(2), row(3)])


def test_the_same_routes_are_the_same_set(three):
    assert route_sets.intern([row(1), row(2), row(3)]) == three
    assert RouteSet.objects.count() == 1


def test_a_known_set_is_found_again_by_another_process(three):
    route_sets.forget()
    assert route_sets.intern([row(1), row(2), row(3)]) == three


def test_other_routes_are_another_set(three):
    fewer, turned = [row(1), row(2)], [row(2), row(1), row(3)]
    for rows in (fewer, turned, [*fewer, row(3, weight=2)], [*fewer, row(3, channel=9)]):
        assert route_sets.intern(rows) != three, rows


def test_a_set_keeps_its_order(db):
    assert ids(route_sets.intern([row(3), row(1), row(2)])) == [3, 1, 2]


def test_a_set_without_a_route(three):
    assert ids(route_sets.without(three, 2)) == [1, 3]
    assert route_sets.without(three, 9) == three


def test_nothing_is_left_without_the_last_route(db):
    assert route_sets.without(route_sets.intern([row(1)]), 1) is None


def test_only_some_routes_of_a_set(three):
    assert ids(route_sets.only(three, frozenset({3, 1, 9}))) == [1, 3]
    assert route_sets.only(three, frozenset({9})) is None


def test_a_known_set_costs_no_statement(three, django_assert_num_queries):
    route_sets.routes_of(three)
    with django_assert_num_queries(0):
        route_sets.intern([row(1), row(2), row(3)])
        route_sets.routes_of(three)


def test_a_task_remembers_what_it_was_submitted_with(key, image_model, worker):
    task = steps.start(key, worker)
    assert route_sets.submitted(task.id) == task.open_routes_id


def test_one_set_met_by_many_threads_at_once_is_one(transactional_db):
    jobs = [partial(RouteSet.objects.get_or_create, digest="d" * 64, defaults={"routes": []}) for _ in range(8)]
    found = {made.pk for made, _ in steps.at_once(jobs)}
    assert len(found) == 1
