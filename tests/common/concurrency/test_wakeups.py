"""Wake-ups between processes: each `Post` stands for the one of a process, with a line of its own to the others."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from django.db import connection, transaction

from common.concurrency import wakeup_lines, wakeups
from common.concurrency.wakeups import Post
from tests.databases import database_url
from tests.umask import careless, others_may
from tools.children import PATIENCE

pytestmark = pytest.mark.django_db(transaction=True)


class Ear:
    """Listens in a process of its own."""

    def __init__(self, post: Post) -> None:
        self.rung = threading.Event()
        self._listening = post.listening({"queued": self.rung.set})

    def hears(self) -> bool:
        """Whether it is rung, by now or soon."""
        was_rung = self.rung.wait(PATIENCE)
        self.rung.clear()
        return was_rung

    def __enter__(self) -> "Ear":
        self._listening.__enter__()
        assert self.hears()  # once, when the line is open
        return self

    def __exit__(self, *raised: object) -> None:
        self._listening.__exit__(None, None, None)


@pytest.fixture
def process(transactional_db: None) -> Iterator[Callable[[], Post]]:
    made: list[Post] = []

    def make() -> Post:
        made.append(Post())
        return made[-1]

    yield make
    for post in made:
        post.close()


@pytest.fixture
def folder(transactional_db: None) -> Path:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL needs no sockets")
    return wakeup_lines.folder_of(str(connection.settings_dict["NAME"]))


def test_another_process_is_woken_and_only_for_its_topic(process):
    told = process()
    with Ear(process()) as ear:
        told.tell("callbacks")
        told.tell("queued")
        assert ear.hears()
        told.tell("callbacks")
        assert not ear.rung.is_set()


def test_ones_own_process_is_woken_at_once(process):
    post = process()
    with Ear(post) as ear:
        post.tell("queued")
        assert ear.rung.is_set()


def test_a_ring_that_fails_keeps_nobody_from_being_woken_later(process):
    listener, told = process(), process()
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        raise RuntimeError("the event loop is closed")

    with listener.listening({"callbacks": fail}):
        told.tell("callbacks")
        assert failed.wait(PATIENCE)
    with Ear(listener) as ear:
        told.tell("queued")
        assert ear.hears()


def test_who_left_is_not_rung(process):
    post = process()
    with Ear(post) as ear:
        pass
    post.tell("queued")
    assert not ear.rung.is_set()


def test_nobody_is_woken_before_the_commit_or_after_a_rollback(process, monkeypatch):
    monkeypatch.setattr(wakeups, "post", process())
    with Ear(wakeups.post) as ear:
        with transaction.atomic():
            wakeups.tell("queued")
            assert not ear.rung.is_set()
        assert ear.hears()
        with transaction.atomic():
            wakeups.tell("queued")
            transaction.set_rollback(True)
        assert not ear.rung.is_set()


def test_many_wake_ups_are_one_message_now_and_one_at_the_end(process, monkeypatch):
    monkeypatch.setattr(wakeups, "SHORTEST_REST", 3_600.0)
    listener, told = process(), process()
    rings: list[int] = []
    with Ear(listener) as ear, listener.listening({"callbacks": lambda: rings.append(1)}):
        told.tell("queued")
        assert ear.hears()
        for _ in range(1_000):
            told.tell("callbacks")
        told.tell("queued")
        for another in (process(), process(), process()):
            another.tell("queued")
            assert ear.hears()
        assert told.unsent
        assert not rings
        told.close()
        assert ear.hears()
        assert len(rings) == 1


def test_more_wake_ups_are_not_held_back_for_long(process):
    told = process()
    with Ear(process()) as ear:
        for _ in range(20):
            told.tell("queued")
            assert ear.hears()


class SlowEar(socket.socket):
    """Reads so slowly that each time another byte comes before it takes what is there."""

    before_reading: Callable[[], None] = staticmethod(lambda: None)

    def recv(self, size: int, flags: int = 0) -> bytes:
        self.before_reading()
        return super().recv(size, flags)


def test_who_tells_while_the_thread_takes_up_what_was_told_is_heard_later_too(process, monkeypatch):
    monkeypatch.setattr(wakeups, "SHORTEST_REST", 0.0)
    monkeypatch.setattr(wakeups, "LONGEST_REST", 0.0)
    ears: list[SlowEar] = []

    def pair(
        real: Callable[[], tuple[socket.socket, socket.socket]] = socket.socketpair,
    ) -> tuple[SlowEar, socket.socket]:
        ear, mouth = real()
        ears.append(SlowEar(fileno=ear.detach()))
        return ears[-1], mouth

    told = process()
    with Ear(process()) as ear:
        with monkeypatch.context() as patch:
            patch.setattr(socket, "socketpair", pair)
            told.tell("callbacks")
        ears[0].before_reading = lambda: told.tell("events")
        told.tell("queued")
        assert ear.hears()
        ears[0].before_reading = lambda: None
        for _ in range(3):
            told.tell("queued")
            assert ear.hears()


def test_everybody_is_woken_when_a_cut_line_is_open_again(process):
    if connection.vendor != "postgresql":
        pytest.skip("sockets are not cut")
    told = process()
    with Ear(process()) as ear:
        cut()
        assert ear.hears()
        told.tell("queued")
        assert ear.hears()


def cut() -> None:
    """End the sessions that listen."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' "
            "AND datname = current_database()"
        )


def test_a_socket_that_nobody_reads_is_removed_and_keeps_nobody_from_being_woken(process, folder):
    left = folder / "0000dead"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as killed:
        killed.bind(str(left))
    told = process()
    with Ear(process()) as ear:
        told.tell("queued")
        assert ear.hears()
    told.close()
    assert not left.exists()


def test_a_process_that_does_not_read_keeps_nobody_from_being_woken(process, folder):
    told = process()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stuck, Ear(process()) as ear:
        stuck.bind(str(folder / "0000beef"))
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as filling:
            filling.setblocking(False)
            with suppress(BlockingIOError):
                while True:
                    filling.sendto(b"x", str(folder / "0000beef"))
        told.tell("queued")
        assert ear.hears()
    (folder / "0000beef").unlink()


def test_a_socket_is_gone_with_its_process(process, folder):
    before = set(os.listdir(folder))
    post = process()
    with Ear(post):
        assert set(os.listdir(folder)) > before
    post.close()
    assert set(os.listdir(folder)) == before


def test_the_sockets_lie_in_a_folder_for_their_owner_alone(tmp_path):
    with careless():
        made = wakeup_lines.folder_of(str(tmp_path / "a.sqlite3"))
    older = tmp_path / "b.sqlite3-wake"
    older.mkdir(0o755)
    assert not others_may(made)
    assert wakeup_lines.folder_of(str(tmp_path / "b.sqlite3")) == older
    assert not others_may(older)


def test_a_long_path_has_its_sockets_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    folder = wakeup_lines.folder_of(str(deep / "darkroom.sqlite3"))
    assert folder.parent == tmp_path
    assert folder == wakeup_lines.folder_of(str(deep / "darkroom.sqlite3"))
    assert folder != wakeup_lines.folder_of(str(deep / "other.sqlite3"))
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.rmdir()
    folder.symlink_to(deep)
    with pytest.raises(PermissionError):
        wakeup_lines.folder_of(str(deep / "darkroom.sqlite3"))
