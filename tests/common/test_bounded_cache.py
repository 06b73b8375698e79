"""What is remembered of an object is never said of another one, however alike they are."""

from common import bounded_cache as module
from common.bounded_cache import by_identity


def test_the_same_object_is_looked_at_once_and_an_equal_one_by_itself():
    asked: list[object] = []

    @by_identity
    def described(thing: dict[str, int]) -> list[str]:
        asked.append(thing)
        return list(thing)

    one, equal = {"a": 1}, {"a": 1}
    assert described(one) is described(one)
    assert described(equal) is not described(one)
    assert len(asked) == 2


def test_an_object_that_is_gone_lends_its_id_to_nobody(monkeypatch):
    monkeypatch.setattr(module, "MOST_BY_IDENTITY", 3)
    described = by_identity(lambda thing: list(thing))
    assert [described({n}) for n in range(50)] == [[n] for n in range(50)]


def test_of_several_objects_each_counts_and_in_its_place():
    together = by_identity(lambda one, other: [one, other])
    one, other = {"a": 1}, {"a": 1}
    assert together(one, other) is together(one, other)
    assert len({id(together(*things)) for things in ((one, other), (other, one), (one, one))}) == 3
