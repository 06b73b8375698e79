"""What holds for all tests of adapters."""

from collections.abc import Iterator

import pytest

from common.outbound import Limits
from tools.children import PATIENCE


@pytest.fixture(autouse=True)
def patient_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection of the outbound door may take as long as all else: this process may be frozen while it opens one."""
    monkeypatch.setitem(Limits.__init__.__kwdefaults__, "connect_seconds", PATIENCE)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """A failed test shows its own variables: one that goes through a table says so which case it was."""
    report = yield
    if report.failed and call.excinfo and isinstance(item, pytest.Function):
        frames = [entry.frame for entry in call.excinfo.traceback if entry.frame.code.raw is item.function.__code__]
        lines = [f"{name} = {value!r}"[:300] for frame in frames for name, value in frame.f_locals.items()]
        report.sections.append(("variables of the test", "\n".join(lines)))
    return report
