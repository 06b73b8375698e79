"""Events without the rest of their transitions, written in transactions that commit, wait or roll back as told."""

import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from django.db import connection, transaction
from django.utils import timezone

from tasks.events import events, reader
from tasks.events.reader import Event, EventReader
from tasks.models import Task, TaskEvent
from tools.children import PATIENCE


class Undone(Exception):
    """Rolls a transaction back."""


def write(task: Task, status: str = "running", attempt: int = 1) -> None:
    events.record([(task.id, task.key_id, status, attempt)])


def finish(task: Task) -> None:
    """An end as the domain writes it: the row and its event in one transaction."""
    with transaction.atomic():
        Task.objects.filter(id=task.id).update(status="canceled", finished_at=timezone.now(), actual_micros=0)
        write(task, "canceled")


@contextmanager
def open_transaction(task: Task, *, undo: bool = False) -> Iterator[Callable[[], None]]:
    """An event written by a transaction on another connection, which ends when the value is called."""
    may_end, is_written = threading.Event(), threading.Event()

    def run() -> None:
        try:
            with transaction.atomic():
                write(task)
                is_written.set()
                may_end.wait(PATIENCE)
                if undo:
                    raise Undone
        except Undone:
            pass
        finally:
            connection.close()

    thread = threading.Thread(target=run)

    def end() -> None:
        may_end.set()
        thread.join()

    thread.start()
    try:
        assert is_written.wait(PATIENCE)
        yield end
    finally:
        end()


def write_at_random(tasks: Sequence[Task], *, transactions: int, seed: int) -> None:
    """Transactions of one to three events; one in ten is undone, one in twenty takes long."""
    chance = random.Random(seed)
    try:
        for number in range(transactions):
            try:
                with transaction.atomic():
                    for task in chance.sample(tasks, chance.randint(1, 3)):
                        write(task, chance.choice(("running", "queued")), number)
                        time.sleep(chance.choice((0, 0, 0.001, 0.003)))
                    if chance.random() < 0.05:
                        time.sleep(0.05)
                    if chance.random() < 0.1:
                        raise Undone
            except Undone:
                pass
    finally:
        connection.close()


class Following(threading.Thread):
    """A reader on a thread of its own, as a web process has one."""

    def __init__(self) -> None:
        super().__init__()
        self.reader = EventReader()
        self.told: list[Event] = []
        self.held = 0
        self.is_over = threading.Event()

    def run(self) -> None:
        try:
            while not self.is_over.is_set() or self.reader.is_held or self.reader.mark != reader.newest():
                self.told += self.reader.read()
                self.held += self.reader.is_held
                time.sleep(0.005)
        finally:
            connection.close()


def stored_ids(after: int = 0) -> list[int]:
    return list(TaskEvent.objects.filter(id__gt=after).order_by("id").values_list("id", flat=True))
