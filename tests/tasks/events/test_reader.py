"""What one reader tells, whatever commits, waits and rolls back at the same time; and what a client can catch up on."""

import threading
from contextlib import nullcontext

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account
from tasks.events import reader as event_reader
from tasks.events.reader import EventReader
from tasks.models import ENDED, Task, TaskEvent
from tests.tasks.events.writing import Following, open_transaction, stored_ids, write, write_at_random
from tools.children import PATIENCE, wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def reader(make_task) -> EventReader:
    """At its beginning, after one event."""
    write(make_task())
    reader = EventReader()
    assert reader.read() == []
    return reader


def told(reader: EventReader, *, reads: int = 3) -> list[str]:
    """The ids of the tasks told by a few reads."""
    return [event.task_id for _ in range(reads) for event in reader.read()]


def test_a_reader_begins_after_what_is_there(make_task):
    write(make_task())
    reader = EventReader()
    assert (reader.read(), reader.mark) == ([], stored_ids()[0])


def test_a_reader_of_an_empty_table_tells_its_first_event(make_task):
    reader, task = EventReader(), make_task()
    assert (reader.read(), reader.mark) == ([], 0)
    write(task)
    assert told(reader) == [task.id]


def test_events_are_told_once_with_what_a_stream_shows(reader, make_task):
    task = make_task(model_name="aurora")
    write(task)
    (event,) = reader.read()
    assert (event.id, event.key_id, event.task_id) == (stored_ids()[-1], task.key_id, task.id)
    assert (event.status, event.modality, event.model_name, event.origin) == ("running", "image", "aurora", "async")
    assert (reader.read(), reader.mark) == ([], event.id)


def test_a_settled_cursor_is_the_newest_while_no_lower_one_may_appear(make_task):
    assert event_reader.settled() == 0
    write(make_task())
    assert event_reader.settled() == stored_ids()[-1]


def test_there_is_no_settled_cursor_while_a_lower_one_may_appear(concurrent, make_task):
    held, task = make_task(), make_task()
    with open_transaction(held) as end:
        write(task)
        assert event_reader.settled() is None
        end()
    assert event_reader.settled() == stored_ids()[-1]


def test_a_read_with_nothing_new_is_one_statement(reader):
    with CaptureQueriesContext(connection) as queries:
        reader.read()
    assert len(queries) == 1


def test_more_than_a_page_is_told_in_pages(reader, make_task, monkeypatch):
    monkeypatch.setattr(event_reader, "PAGE", 2)
    task = make_task()
    for _ in range(5):
        write(task)
    assert [len(reader.read()) for _ in range(4)] == [2, 2, 1, 0]


def test_a_late_commit_is_told_before_the_later_ids(reader, make_task, concurrent):
    late, early = make_task(), make_task()
    with open_transaction(late) as commit:
        write(early)
        assert told(reader) == []
        commit()
        assert told(reader) == [late.id, early.id]


def test_an_undone_id_holds_nothing_up(reader, make_task, concurrent):
    undone, kept = make_task(), make_task()
    with open_transaction(undone, undo=True) as undo:
        write(kept)
        assert told(reader) == []
        undo()
    assert told(reader) == [kept.id]


def test_an_id_that_is_gone_already_costs_no_second_read(reader, make_task):
    gone, kept = make_task(), make_task()
    write(gone)
    TaskEvent.objects.filter(task=gone).delete()
    write(kept)
    assert told(reader, reads=1) == [kept.id]


def test_all_gaps_of_a_page_are_waited_for_at_once(reader, make_task, concurrent):
    tasks = [make_task() for _ in range(5)]
    with open_transaction(tasks[0], undo=True) as first, open_transaction(tasks[1]) as second:
        write(tasks[2])
        with open_transaction(tasks[3], undo=True) as third:
            write(tasks[4])
            assert told(reader) == []
            third()
            first()
            assert told(reader) == []
            second()
            assert told(reader) == [tasks[1].id, tasks[2].id, tasks[4].id]


def test_transactions_that_write_no_events_hold_nothing_up(reader, make_task, concurrent):
    task = make_task()
    other = connection.copy()
    other.set_autocommit(False)
    try:
        with other.cursor() as cursor:
            cursor.execute("UPDATE tasks_servicestate SET message = 'open for long'")
        with open_transaction(task, undo=True) as undo:
            write(task)
            undo()
        assert told(reader) == [task.id]
    finally:
        other.rollback()
        other.close()


def test_a_reader_that_begins_beside_an_open_transaction_tells_it(make_task, concurrent):
    late, early = make_task(), make_task()
    with open_transaction(late) as commit:
        write(early)
        reader = EventReader()
        assert (told(reader), reader.mark, reader.is_held) == ([], None, True)
        commit()
        assert told(reader) == []
        assert reader.mark == stored_ids()[-1]
        assert [event.task_id for event in event_reader.missed(late.key_id, 0, reader.mark)[0]] == [late.id, early.id]


def test_eight_writers_and_two_readers_lose_and_repeat_nothing(make_task):
    tasks = [make_task() for _ in range(12)]
    readers = [Following(), Following()]
    writers = [
        threading.Thread(target=write_at_random, args=[tasks], kwargs={"transactions": 20, "seed": seed})
        for seed in range(8)
    ]
    for reader in readers:
        reader.start()
    wait_until(lambda: all(reader.reader.mark is not None for reader in readers), what="the readers' beginning")
    takes_turns = connection.vendor == "sqlite"
    with nullcontext(lambda: None) if takes_turns else open_transaction(tasks[0]) as commit:
        for writer in writers:
            writer.start()
        wait_until(lambda: takes_turns or all(reader.held for reader in readers), what="the readers to be held")
        commit()
    for writer in writers:
        writer.join(PATIENCE)
    for reader in readers:
        reader.is_over.set()
        reader.join(PATIENCE)
        assert [event.id for event in reader.told] == stored_ids()


def test_a_page_of_what_was_missed_says_how_far_it_reaches(make_task, monkeypatch):
    monkeypatch.setattr(event_reader, "PAGE", 2)
    task = make_task()
    for _ in range(4):
        write(task)
    ids = stored_ids()
    first, reached = event_reader.missed(task.key_id, 0, ids[2])
    assert ([event.id for event in first], reached) == (ids[:2], ids[1])
    second, reached = event_reader.missed(task.key_id, reached, ids[2])
    assert ([event.id for event in second], reached) == (ids[2:3], ids[2])


def test_too_much_or_unknown_is_not_replayable(make_task, monkeypatch):
    monkeypatch.setattr(event_reader, "REPLAY_EVENTS", 3)
    task = make_task()
    for _ in range(5):
        write(task)
    ids = stored_ids()
    asked = [ids[0], ids[1], ids[2], ids[4], ids[4] + 1]
    assert [event_reader.is_replayable(task.key_id, cursor) for cursor in asked] == [False, True, True, True, False]


def live(task: Task, mark: int) -> list[tuple[str, str]]:
    return [(e.task_id, e.status) for e in event_reader.live_at(mark, task.account_id, task.key_id)]


def test_the_snapshot_is_as_of_the_mark_whatever_came_after(make_task):
    task = make_task()
    for status in ("queued", "running", "queued", "running"):
        write(task, status)
    Task.objects.filter(id=task.id).update(status="failed", finished_at=timezone.now(), actual_micros=0)
    write(task, "failed")
    states = [live(task, mark) for mark in [stored_ids()[0] - 1, *stored_ids()]]
    shown = [[(task.id, status)] for status in ("queued", "running", "queued", "running")]
    assert states == [[], *shown, []]


def test_the_snapshot_is_the_keys_own_and_asynchronous(make_task, other_key):
    task, foreign, synchronous = make_task(), make_task(), make_task(origin="sync")
    account = Account.objects.get(id=other_key.account.id)
    Task.objects.filter(id=foreign.id).update(key=other_key.record, account=account)
    for written in (task, Task.objects.get(id=foreign.id), synchronous):
        write(written, "queued")
    assert live(task, stored_ids()[-1]) == [(task.id, "queued")]


def test_a_wait_learns_of_every_ended_status_however_many_there_are(make_task, monkeypatch):
    monkeypatch.setattr(event_reader, "ENDED", (*ENDED, "running"))  # a fifth, of which rows can be made
    ids = [make_task(status).id for status in (*ENDED, "running")]
    assert sorted(event_reader.ended_among([*ids, make_task().id])) == sorted(ids)
