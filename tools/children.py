"""Starts, watches, signals and stops one child process with a log file of its own."""

import contextlib
import errno
import os
import re
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")
ROOT = Path(__file__).resolve().parent.parent
LONGEST_LINE = 1_000
PATIENCE = 300.0
"""Seconds to wait for what must happen. This is no promise: only a hang takes as long."""


class ChildFailed(Exception):
    """A child ended or stayed silent where it was needed; the message ends with its last log lines."""


def wait_until(condition: Callable[[], Value], *, timeout: float = PATIENCE, what: str = "the condition") -> Value:
    """Returns the first true value of the condition, checked every 20 ms. Raises TimeoutError after `timeout`
    seconds."""
    deadline = time.monotonic() + timeout
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout:g} s for {what}")
        time.sleep(0.02)
    return value


def free_port() -> int:
    """Returns a free port below the range that systems use for outgoing connections."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_taken(host: str, port: int) -> bool:
    """Whether a process listens there already."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        return error.errno == errno.EADDRINUSE
    return False


def first_free(host: str, wanted: int) -> int:
    """The wanted port, or where that is taken the next that is not; 0 is any."""
    return next(port for port in range(wanted, 65_536) if not is_taken(host, port)) if wanted else free_port()


class Child:
    """A running process with its output in `log`; it has its own session, so Ctrl-C does not reach it."""

    def __init__(
        self, name: str, command: Sequence[str], *, environment: Mapping[str, str], log: Path, folder: Path = ROOT
    ) -> None:
        self.name = name
        self.log = log
        self.url = ""
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                command,
                env=environment,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def text(self) -> str:
        """Returns everything it has printed."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def tail(self, lines: int = 20) -> str:
        """Returns its last lines, cut to their ends, where a logged traceback says what went wrong."""
        return "\n".join(line[-LONGEST_LINE:] for line in self.text().splitlines()[-lines:])

    def wait_for_line(self, pattern: str, *, timeout: float = PATIENCE) -> re.Match[str]:
        """Returns the first match of a regular expression in its output. Raises ChildFailed."""
        return self._await(lambda: re.search(pattern, self.text(), re.MULTILINE), timeout, what=repr(pattern))

    def wait_for_http(self, url: str, *, timeout: float = PATIENCE) -> None:
        """Waits until a GET answers 200. Raises ChildFailed."""
        self._await(lambda: answers(url), timeout, what=f"an answer of {url}")

    def _await(self, condition: Callable[[], Value | None], timeout: float, *, what: str) -> Value:
        def ready() -> Value | None:
            has_ended = not self.is_running  # checked first, so that the last output still counts
            value = condition()
            if not value and has_ended:
                raise ChildFailed(f"{self.name} ended with {self.process.returncode}:\n{self.tail()}")
            return value

        try:
            value = wait_until(ready, timeout=timeout, what=what)
        except TimeoutError as error:
            raise ChildFailed(f"{self.name}: {error}:\n{self.tail()}") from error
        assert value is not None  # noqa: S101
        return value

    def send(self, number: signal.Signals) -> None:
        """Signals the process itself, unless it has ended."""
        if self.is_running:
            self.process.send_signal(number)

    def terminate(self) -> None:
        self.send(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL, and waits until the process is gone."""
        self.send(signal.SIGKILL)
        self.process.wait()

    def pause(self) -> None:
        self.send(signal.SIGSTOP)

    def unpause(self) -> None:
        self.send(signal.SIGCONT)

    def wait(self, timeout: float = PATIENCE) -> int:
        """Returns its exit code. Raises ChildFailed if it does not end in time."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired as error:
            raise ChildFailed(f"{self.name} still runs after {timeout:g} s:\n{self.tail()}") from error

    def stop(self, grace: float = 10) -> None:
        """Sends SIGTERM, and after the grace period SIGKILL to it and all its children."""
        self.unpause()
        self.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(grace)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def answers(url: str) -> bool:
    """Tells whether a GET answers 200 now."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
