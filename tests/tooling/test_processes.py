"""The real processes that other tests stand on."""

import sys

import psutil
import pytest

from tests.databases import is_postgresql
from tools.children import Child, ChildFailed, free_port, wait_until

TALKER = "import itertools, signal, sys, time; print('ready at 7', flush=True); {}"


@pytest.fixture
def talk(tmp_path):
    """Starts a child that runs a line of Python after it has said that it is ready."""
    children = []

    def start(line: str = "signal.pause()") -> Child:
        command = [sys.executable, "-c", TALKER.format(line)]
        children.append(Child("talker", command, environment={}, log=tmp_path / f"{len(children)}.log"))
        return children[-1]

    yield start
    for child in children:
        child.stop()


def test_a_line_of_the_log_is_waited_for(talk):
    assert talk().wait_for_line(r"ready at (\d)")[1] == "7"


def test_a_child_that_ends_early_shows_its_last_lines(talk):
    with pytest.raises(ChildFailed, match=r"talker ended with 3:\nready at 7\nout of paper"):
        talk("print('out of paper'); sys.exit(3)").wait_for_line("never said")


def test_a_silent_child_fails_at_its_deadline(talk):
    with pytest.raises(ChildFailed, match=r"waited 0.2 s for 'never said'"):
        talk().wait_for_line("never said", timeout=0.2)


def test_a_killed_child_is_gone(talk):
    child = talk()
    child.wait_for_line("ready")
    child.kill()
    assert child.process.returncode == -9


def test_a_child_that_ignores_sigterm_is_killed_after_the_grace(talk):
    child = talk("signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()")
    child.wait_for_line("deaf")
    child.stop(grace=0.2)
    assert child.process.returncode == -9


def test_a_paused_child_goes_on_when_it_is_unpaused(talk):
    child = talk("[print(n, flush=True) or time.sleep(0.01) for n in itertools.count()]")
    child.wait_for_line("^3$")
    child.pause()
    wait_until(lambda: psutil.Process(child.process.pid).status() == psutil.STATUS_STOPPED, what="the stop")
    said = child.text()
    child.unpause()
    wait_until(lambda: len(child.text()) > len(said), what="more lines")


def test_a_deadline_names_what_was_waited_for():
    with pytest.raises(TimeoutError, match=r"waited 0.05 s for godot"):
        wait_until(lambda: False, timeout=0.05, what="godot")


def test_free_ports_lie_below_those_of_outgoing_connections():
    assert all(20_000 <= free_port() < 32_000 for _ in range(20))


def test_every_stack_has_a_migrated_database_of_its_own(databases):
    with databases.fresh() as first, databases.fresh() as second:
        assert first != second
        assert is_postgresql(first) == is_postgresql(databases.server)


def test_a_command_that_fails_shows_what_it_said(stack):
    with pytest.raises(ChildFailed, match="Unknown command"):
        stack.manage("no_such_command")


def test_a_key_of_a_stack_opens_its_web_process(stack):
    key = stack.create_key()
    stack.start_web()
    assert stack.client(key).get("/v1/tasks/models").json() == {"object": "list", "data": []}
    assert stack.client("wrong").get("/v1/tasks/models").status_code == 401


def test_no_process_is_left_when_the_stack_has_stopped(stack):
    for child in (stack.start_sandbox(), stack.start_web()):
        assert child.is_running
    started = [child.process.pid for child in stack.children]
    started += [grandchild.pid for pid in started for grandchild in psutil.Process(pid).children(recursive=True)]
    stack.stop()
    wait_until(lambda: not any(runs(pid) for pid in started), what="every process to be gone")


def runs(pid: int) -> bool:
    """Whether there is such a process that is not just waiting to be reaped."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
