"""Groups: what waits goes together, payers take turns, and nobody pays for a neighbour's fault."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future

import pytest

from common.concurrency.gathering import LATER, Gathering, GrowingGroup
from tools.children import wait_until


def on_a_thread(step: Callable[[], None]) -> None:
    threading.Thread(target=step, daemon=True).start()


class Held:
    """Work that keeps its first group until it is let go, and notes the groups."""

    def __init__(self) -> None:
        self.groups: list[list[str]] = []
        self.go_on = threading.Event()

    def __call__(self, items: list[str]) -> Sequence[str]:
        self.groups.append(items)
        assert self.go_on.wait(60)
        return [item.upper() for item in items]


def gathered_behind(held: Held, items: Sequence[tuple[str, str]], *, most: int = 100) -> list["Future[str]"]:
    """All of them added while a first group, of one item, is at work; then it goes on."""
    gathering = Gathering(held, start=on_a_thread, most=most)
    futures = [gathering.add("first", payer="nobody")]
    wait_until(lambda: bool(held.groups))
    futures += [gathering.add(item, payer=payer) for payer, item in items]
    held.go_on.set()
    return futures


def test_one_that_comes_alone_begins_at_once() -> None:
    gathering: Gathering[int, int] = Gathering(lambda items: [item + 1 for item in items], start=on_a_thread)

    assert [gathering.add(n).result(60) for n in (1, 5)] == [2, 6]


def test_those_that_come_meanwhile_go_together() -> None:
    held = Held()

    futures = gathered_behind(held, [("a", "x"), ("b", "y"), ("a", "z")])

    assert [future.result(60) for future in futures] == ["FIRST", "X", "Y", "Z"]
    assert [sorted(group) for group in held.groups] == [["first"], ["x", "y", "z"]]


def test_what_is_added_while_it_is_held_goes_together_at_the_end() -> None:
    groups: list[list[int]] = []
    threads: list[int] = []

    def work(items: list[int]) -> list[int]:
        groups.append(items)
        threads.append(threading.get_ident())
        return items

    gathering: Gathering[int, int] = Gathering(work, start=on_a_thread)
    with gathering.held():
        futures = [gathering.add(n) for n in range(3)]
        assert not groups
    assert [future.result(60) for future in futures] == [0, 1, 2]
    assert (groups, threads) == ([[0, 1, 2]], [threading.get_ident()])
    with gathering.held():
        pass
    assert gathering.add(3).result(60) == 3
    assert threads[1] != threading.get_ident()


def test_who_holds_a_gathering_does_one_group_and_no_more() -> None:
    threads: dict[int, int] = {}

    def work(items: list[int]) -> list[int]:
        threads.update(dict.fromkeys(items, threading.get_ident()))
        if items == [0]:
            later.append(gathering.add(1))
        return items

    later: list[Future[int]] = []
    gathering: Gathering[int, int] = Gathering(work, start=on_a_thread)
    with gathering.held():
        gathering.add(0)
    assert later[0].result(60) == 1
    assert threads[0] == threading.get_ident() != threads[1]


def test_payers_take_turns_where_a_group_has_no_room_for_all() -> None:
    held = Held()

    futures = gathered_behind(held, [*(("many", f"m{n}") for n in range(5)), ("one", "o")], most=2)

    for future in futures:
        future.result(60)
    assert held.groups[1] == ["m0", "o"]
    assert [item for group in held.groups for item in group] == ["first", "m0", "o", "m1", "m2", "m3", "m4"]


def test_the_members_of_a_payer_have_its_turns_among_them() -> None:
    held = Held()
    gathering = Gathering(held, start=on_a_thread, most=2)
    futures = [gathering.add("first")]
    wait_until(lambda: bool(held.groups))
    futures += [gathering.add(item, payer="strangers", member=item[0]) for item in ("a1", "a2", "b1", "c1")]
    futures += [gathering.add(item, payer="one") for item in ("o1", "o2")]
    held.go_on.set()

    for future in futures:
        future.result(60)
    assert held.groups == [["first"], ["a1", "o1"], ["b1", "o2"], ["c1", "a2"]]


@pytest.mark.parametrize("is_faulty", [False, True])
def test_a_group_at_work_may_let_in_what_has_come_up_to_the_most(is_faulty) -> None:
    sizes: list[tuple[int, int]] = []
    first, others_came = threading.Event(), threading.Event()

    def work(items: GrowingGroup[int]) -> list[int]:
        first.set()
        assert others_came.wait(60)
        before = len(items)
        items.grow()
        sizes.append((before, len(items)))
        if is_faulty:
            raise RuntimeError("all of them")
        return [10 * item for item in items]

    gathering: Gathering[int, int] = Gathering(work, start=on_a_thread, most=3)
    futures = [gathering.add(1)]
    assert first.wait(60)
    futures += [gathering.add(n) for n in (2, 3, 4)]
    assert futures[1].cancel()
    futures.append(gathering.add(5))
    others_came.set()
    del futures[1]

    if is_faulty:
        assert [str(future.exception(60)) for future in futures] == ["all of them"] * 4
    else:
        assert [future.result(60) for future in futures] == [10, 30, 40, 50]
    assert sizes == [(1, 3), (1, 1)]


def test_a_fault_of_one_is_told_to_that_one_alone() -> None:
    def work(items: list[int]) -> list[int | BaseException]:
        return [ValueError("three") if item == 3 else item for item in items]

    gathering = Gathering(work, start=lambda step: step())

    assert gathering.add(2).result(60) == 2
    with pytest.raises(ValueError, match="three"):
        gathering.add(3).result(60)


def test_what_the_work_raises_every_caller_of_the_group_gets_and_the_next_group_goes_on() -> None:
    def work(items: list[str]) -> list[str]:
        if "bad" in items:
            raise RuntimeError("the whole group")
        return items

    gathering = Gathering(work, start=lambda step: step())

    with pytest.raises(RuntimeError, match="the whole group"):
        gathering.add("bad").result(60)
    assert gathering.add("good").result(60) == "good"


def test_one_that_is_put_off_stands_first_in_the_next_group() -> None:
    held, seen = Held(), list[list[str]]()

    def work(items: list[str]) -> list[object]:
        seen.append(items)
        done = held(items)
        return [
            LATER if item == "locked" and len(seen) == 2 else upper for item, upper in zip(items, done, strict=True)
        ]

    gathering: Gathering[str, object] = Gathering(work, start=on_a_thread, most=2)
    futures = [gathering.add("first")]
    wait_until(lambda: bool(seen))
    futures += [gathering.add(item) for item in ("open", "locked", "next")]
    held.go_on.set()

    assert [future.result(60) for future in futures] == ["FIRST", "OPEN", "LOCKED", "NEXT"]
    assert seen == [["first"], ["open", "locked"], ["locked", "next"]]


def test_one_that_is_sent_on_is_done_by_another_gathering() -> None:
    patient: Gathering[str, str] = Gathering(lambda items: [f"{item} at last" for item in items], start=on_a_thread)
    quick: Gathering[str, str] = Gathering(
        lambda items: [patient if item == "locked" else item for item in items], start=on_a_thread
    )

    assert [quick.add(item).result(60) for item in ("open", "locked")] == ["open", "locked at last"]


def test_one_that_is_cancelled_while_it_waits_is_left_out() -> None:
    held = Held()
    gathering = Gathering(held, start=on_a_thread)
    first = gathering.add("first")
    wait_until(lambda: bool(held.groups))
    given_up, kept = gathering.add("given up"), gathering.add("kept")
    assert given_up.cancel()
    held.go_on.set()

    assert (first.result(60), kept.result(60)) == ("FIRST", "KEPT")
    assert held.groups == [["first"], ["kept"]]


def test_where_no_thread_is_left_everybody_hears_of_it_and_the_next_may_find_one() -> None:
    threads = iter([RuntimeError("can't start new thread"), None])

    def start(step: Callable[[], None]) -> None:
        if error := next(threads):
            raise error
        step()

    gathering: Gathering[int, int] = Gathering(lambda items: items, start=start)

    with pytest.raises(RuntimeError, match="new thread"):
        gathering.add(1).result(60)
    assert gathering.add(2).result(60) == 2
