"""Sets of routes are kept once and never change."""

from functools import partial

import pytest

from tasks import route_sets
from tasks.models import RouteSet
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
