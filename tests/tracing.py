"""Which of our modules and functions some code enters, in order: what "one way in" is measured by.

    with traced() as trace:
        warm_up()
        trace.clear()
        act()
    assert len(trace.modules) <= 60

Threads that were started before `traced` are not seen, so what is to be traced on a pool is warmed up inside of it.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

ROOT = Path(__file__).resolve().parents[1]
NOT_OURS = frozenset({".venv", "bench", "sandbox", "tests", "tools"})
"""Folders whose code does not count. The sandbox stands in for a provider, and runs in the tests' own process."""

COMPREHENSIONS = ("comp>", "<genexpr>")


class Trace:
    """What was entered on any thread since the last `clear`.

    `modules` are paths such as `tasks/models.py`, in the order of their first entry. `functions` are the distinct
    functions and lambdas by `path:qualified.name`; a comprehension is part of the function that it stands in, as newer
    versions of Python run it. `returns` counts how often control enters a module by a
    call from another one of ours, after it was entered before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: dict[CodeType, str | None] = {}
        self.clear()

    def clear(self) -> None:
        """Forget what was entered."""
        with self._lock:
            self.modules: list[str] = []
            self.functions: set[str] = set()
            self.returns = 0
            self._current: dict[int, list[str]] = {}

    def hook(self, frame: FrameType, event: str, _: object) -> None:
        """The profile function of a thread."""
        if event not in ("call", "return"):
            return
        path = self._path(frame.f_code)
        if path is None or frame.f_code.co_name == "<module>":
            return
        with self._lock:
            stack = self._current.setdefault(threading.get_ident(), [])
            if event == "call":
                self._enter(stack, path, frame.f_code.co_qualname)
            elif stack:
                stack.pop()

    def _enter(self, stack: list[str], path: str, name: str) -> None:
        if not name.endswith(COMPREHENSIONS):
            self.functions.add(f"{path}:{name}")
        if path not in self.modules:
            self.modules.append(path)
        elif stack and stack[-1] != path:
            self.returns += 1
        stack.append(path)

    def _path(self, code: CodeType) -> str | None:
        """The file of the code below the repository; None where it is not ours."""
        if code not in self._paths:
            self._paths[code] = _ours(code.co_filename)
        return self._paths[code]

    def of(self, *folders: str) -> list[str]:
        """The modules below these folders of the repository."""
        return [path for path in self.modules if path.split("/", 1)[0] in folders]


def _ours(filename: str) -> str | None:
    path = Path(filename)
    if not path.is_relative_to(ROOT):
        return None
    inside = path.relative_to(ROOT)
    return None if inside.parts[0] in NOT_OURS else inside.as_posix()


@contextmanager
def traced() -> Iterator[Trace]:
    """Trace this thread, and those that are started during the block."""
    trace, before, threads_before = Trace(), sys.getprofile(), threading.getprofile()
    threading.setprofile(trace.hook)
    sys.setprofile(trace.hook)
    try:
        yield trace
    finally:
        sys.setprofile(before)
        threading.setprofile(threads_before)  # type: ignore[arg-type]
