"""What payers share: each has its part and its turn."""

from common.concurrency.sharing import FairQueue, Holdings


def test_a_holder_has_its_part_and_all_together_have_the_room():
    held = Holdings()
    held.take("one", 3)
    assert held.fits("one", 1, most=4, room=8)
    assert not held.fits("one", 2, most=4, room=8)
    held.take("two", 4)
    assert not held.fits("three", 2, most=4, room=8)
    held.give_back("two", 4)
    assert held == {"one": 3}


def test_payers_take_turns_and_so_do_the_members_of_each():
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "a2", "b1"):
        queue.put(item, "strangers", item[0])
    for item in ("o1", "o2"):
        queue.put(item, "one")
    assert len(queue.items_waiting()) == 5
    assert [queue.take_next() for _ in range(5)] == ["a1", "o1", "b1", "o2", "a2"]
    assert not queue


def test_what_is_put_first_is_taken_next_and_others_keep_their_turns():
    queue: FairQueue[str] = FairQueue()
    for item in ("a1", "b1", "b2"):
        queue.put(item, item[0])
    taken = queue.take_next()
    queue.put_first(taken, "a")
    assert (queue.first("b"), queue.take("b")) == ("b1", "b1")
    assert [queue.take_next() for _ in range(2)] == ["a1", "b2"]
